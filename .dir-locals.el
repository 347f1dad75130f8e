;; Emacs: a definition is C++, too.
((auto-mode-alist . (("\\.ipp\\'" . c++-mode))))
