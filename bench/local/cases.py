"""The contractions, products and permutations that bench/local runs, as (name, einsum, extents)."""

import random

# Twelve of the TCCG list (row-major, sizes of its 200 MiB rule), then contractions of the kinds that users run.
CONTRACTIONS = [
    ("tccg00", "dabfe,fc->edcba", dict(a=48, b=36, c=24, d=36, e=48, f=36)),
    ("tccg02", "aebd,ce->dcba", dict(a=96, b=84, c=24, d=96, e=96)),
    ("tccg04", "aced,eb->dcba", dict(a=96, b=24, c=84, d=96, e=84)),
    ("tccg06", "dabe,ec->dcba", dict(a=96, b=84, c=24, d=84, e=96)),
    ("tccg08", "bgfd,caeg->fedcba", dict(a=24, b=20, c=20, d=24, e=20, f=20, g=24)),
    ("tccg10", "cged,bafg->fedcba", dict(a=24, b=20, c=20, d=24, e=20, f=20, g=24)),
    ("tccg12", "ae,dcbe->dcba", dict(a=96, b=84, c=84, d=84, e=96)),
    ("tccg14", "ce,deba->dcba", dict(a=96, b=84, c=84, d=84, e=96)),
    ("tccg16", "dac,bcd->ba", dict(a=384, b=376, c=384, d=384)),
    ("tccg18", "dca,bd->cba", dict(a=384, b=376, c=376, d=384)),
    ("tccg20", "ca,bc->ba", dict(a=2400, b=2392, c=2400)),
    ("tccg22", "dfae,cebf->dcba", dict(a=48, b=44, c=44, d=44, e=48, f=48)),
    ("thesis", "acefb,dcegf->adcgb", dict(a=12, c=2, e=12, f=70, b=70, d=12, g=70)),
    ("attention-scores", "bshd,bthd->bhst", dict(b=2, s=1024, t=1024, h=8, d=64)),
    ("attention-values", "bhst,bthd->bshd", dict(b=2, s=1024, t=1024, h=8, d=64)),
    ("ccsd-particle-ladder", "abef,efij->abij", dict(a=64, b=64, e=64, f=64, i=20, j=20)),
    ("ccsd-ring", "amie,ebmj->abij", dict(a=72, m=24, i=24, e=72, b=72, j=24)),
    ("quarter-transform", "pqrs,pi->iqrs", dict(p=72, q=72, r=72, s=72, i=24)),
    ("mttkrp-step", "ijk,kr->ijr", dict(i=256, j=256, k=256, r=32)),
    ("khatri-rao", "ir,jr->ijr", dict(i=1500, j=1500, r=16)),
    ("tall-inner", "ki,kj->ij", dict(k=262144, i=64, j=64)),
    ("outer", "i,j->ij", dict(i=6000, j=6000)),
    ("small-batch", "nij,njk->nik", dict(n=60000, i=8, j=8, k=8)),
    ("bilinear", "bij,bj->bi", dict(b=64, i=1024, j=1024)),
]


def unseen(seed, count):
    """Contractions of the same kinds that nobody has looked at: random labels, orders and sizes from a seed."""
    choose = random.Random(seed)
    made = []
    while len(made) < count:
        kind = choose.choice(["few sums", "few sums", "balanced", "many sums"])
        m, n, k = {
            "few sums": (choose.randint(2, 3), 1, 1),
            "balanced": (choose.randint(1, 3), choose.randint(1, 3), 1),
            "many sums": (choose.randint(1, 2), choose.randint(1, 2), choose.randint(1, 2)),
        }[kind]
        labels = "abcdefghi"[: m + n + k]
        sides = {"m": labels[:m], "n": labels[m : m + n], "k": labels[m + n :]}
        sum_size = choose.choice([24, 36, 64, 96]) if kind != "many sums" else choose.choice([256, 384, 1000])
        result = choose.choice([4, 8, 16]) * 2**20 if kind != "many sums" else choose.choice([1, 2]) * 2**20
        n_size = choose.choice([16, 24, 40]) if kind == "few sums" else int(result**0.5)
        extents = {}
        for letters, size in ((sides["m"], result / n_size), (sides["n"], n_size), (sides["k"], sum_size)):
            for position, label in enumerate(letters):
                rest = len(letters) - position
                extents[label] = max(3, round(size ** (1 / rest) * choose.uniform(0.8, 1.2))) if rest > 1 else round(size)
                size = max(1.0, size / extents[label])
        orders = ["".join(choose.sample(text, len(text))) for text in
                  (sides["m"] + sides["k"], sides["n"] + sides["k"], sides["m"] + sides["n"])]
        if choose.random() < 0.5:
            orders[0], orders[1] = orders[1], orders[0]
        made.append((f"seed{seed}.{len(made)}", f"{orders[0]},{orders[1]}->{orders[2]}", extents))
    return made


SQUARES = [(f"square{n}", "ij,jk->ik", dict(i=n, j=n, k=n)) for n in (256, 384, 512, 768, 1024, 1536, 2048, 4096)]


def attention():
    made = []
    for b, h, s, t, d in ((1, 8, 64, 64, 64), (2, 8, 512, 512, 64), (4, 16, 128, 128, 64), (1, 8, 2048, 2048, 128),
                          (8, 16, 128, 256, 128), (16, 32, 64, 64, 64), (16, 32, 128, 128, 128)):
        size = dict(b=b, h=h, s=s, t=t, d=d)
        made.append((f"scores b{b} h{h} s{s} d{d}", "bshd,bthd->bhst", size))
        made.append((f"values b{b} h{h} s{s} d{d}", "bhst,bthd->bshd", size))
    return made


CHAINS = [
    ("mttkrp mode 0", "ijk,jkr->ir", dict(i=200, j=200, k=200, r=16)),
    ("mttkrp mode 1", "ijk,ikr->jr", dict(i=200, j=200, k=200, r=16)),
    ("mttkrp mode 2", "ijk,ijr->kr", dict(i=200, j=200, k=200, r=16)),
    ("mttkrp rank 64", "ijk,jkr->ir", dict(i=128, j=160, k=200, r=64)),
    ("ttm mode 0", "ijkl,ia->ajkl", dict(i=64, j=64, k=64, l=64, a=16)),
    ("ttm mode 1", "ajkl,jb->abkl", dict(a=16, j=64, k=64, l=64, b=16)),
    ("ttm mode 2", "abkl,kc->abcl", dict(a=16, b=16, k=64, l=64, c=16)),
    ("ttm mode 3", "abcl,ld->abcd", dict(a=32, b=32, c=32, l=64, d=16)),
]

# The label of the batch first, in the middle and last; the last ones of its extents are no powers of two.
BATCHES = [(f"batched {n}x{n}{where}", text, dict(x=max(500, 4 * 2**20 // (n * n)) + more, i=n, j=n, k=n))
           for where, text, more, sizes in (("", "xij,xjk->xik", 0, (4, 5, 6, 8, 12, 16, 24, 32)),
                                            (" middle", "ixj,jxk->ixk", 0, (4, 8, 16, 24, 32)),
                                            (" last", "ijx,jkx->ikx", 0, (4, 8, 13, 16, 24, 32)),
                                            (" last, odd", "ijx,jkx->ikx", 13, (8, 16, 31)))
           for n in sizes]

# (name, order, extents): dimension d of the output is dimension order[d] of the input; about 32 Mi elements each.
PERMUTATIONS = [
    ("10", (1, 0), (5600, 5600)),
    ("10 narrow", (1, 0), (500000, 60)),
    ("021", (0, 2, 1), (320, 320, 320)),
    ("102", (1, 0, 2), (320, 320, 320)),
    ("120", (1, 2, 0), (320, 320, 320)),
    ("201", (2, 0, 1), (320, 320, 320)),
    ("210", (2, 1, 0), (320, 320, 320)),
    ("0321", (0, 3, 2, 1), (76, 76, 76, 76)),
    ("2103", (2, 1, 0, 3), (76, 76, 76, 76)),
    ("3210", (3, 2, 1, 0), (76, 76, 76, 76)),
    ("3102", (3, 1, 0, 2), (160, 20, 96, 100)),
    ("04321", (0, 4, 3, 2, 1), (32, 32, 32, 32, 32)),
    ("43210", (4, 3, 2, 1, 0), (32, 32, 32, 32, 32)),
    ("21430", (2, 1, 4, 3, 0), (48, 20, 28, 34, 34)),
    ("543210", (5, 4, 3, 2, 1, 0), (18, 18, 18, 18, 18, 18)),
    ("304152", (3, 0, 4, 1, 5, 2), (16, 20, 18, 18, 20, 16)),
]
