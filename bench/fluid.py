#!/usr/bin/env python3
"""The fluid model of DCQCN by Zhu et al., "ECN or Delay", CoNEXT 2016, integrated numerically.

Usage: bench/fluid.py [--line TIMES] [--chance SEED]

  --line TIMES   extend the straight line from Kmin to Kmax by this factor, at the same slope
                 (default 1)
  --chance SEED  marks by chance: each sender has the events of Zhu et al., SIGCOMM 2015, in place
                 of their mean rates; queue and rates stay fluid

Prints the queue that N equal senders to one port of 100 Gbit/s have in the middle half of the time
in which they send 8 GB together. Constants are those of `uet_sim run --cc dcqcn`.
Exit status: 0 done, 2 wrong usage.
"""
import argparse
import math
import random
import statistics

PACKET = 4160  # octets; rates are packets a second, and queues are packets
LINK = 1e11 / 8 / PACKET
CNP, ALPHA, TIMER = 50e-6, 55e-6, 55e-6  # tau, tau', T
COUNTER = 10e6 / PACKET  # B
RECOVERY = 5  # F
INCREASE, HYPER = 40e6 / 8 / PACKET, 400e6 / 8 / PACKET  # R_AI, R_HAI
GAIN = 1 / 256  # g
LINE_MOST = 25  # larger chances of marks overflow in terms()
LOW, HIGH, MOST = 12.5e3 / PACKET, 500e3 / PACKET, 0.01  # Kmin, Kmax, Pmax
DELAY = 4.68e-6  # of feedback: the base round trip of one switch
SENT = 8e9 / 4096  # packets of all senders
STEP = 1e-6


def terms(chance, rate):
    """Of the equations: a cut in CNP seconds; increases by octets and by time, before and behind
    the recovery, for each packet."""
    if chance == 0:
        return 0, 1 / COUNTER, 1 / COUNTER, 1 / (TIMER * rate), 1 / (TIMER * rate)
    if chance == 1:
        return 1, 0, 0, 0, 0
    log = math.log1p(-chance)
    by_octets = chance / math.expm1(-log * COUNTER)
    by_time = chance / math.expm1(-log * TIMER * rate)
    return (-math.expm1(log * CNP * rate), by_octets,
            by_octets * math.exp(log * RECOVERY * COUNTER), by_time,
            by_time * math.exp(log * RECOVERY * TIMER * rate))


def mark_chance(queue, line):
    """Above the upper threshold all packets are marked."""
    high, most = LOW + (HIGH - LOW) * line, MOST * line
    if queue <= LOW:
        return 0
    return 1 if queue > high else (queue - LOW) / (high - LOW) * most


class Means:
    """All senders: they are alike."""
    def __init__(self, count):
        self.count = count
        self.rate = self.target = LINK
        self.alpha = 1
        self.past = [LINK] * round(DELAY / STEP)

    def step(self, number, chance):
        """Returns what all send."""
        then = self.past[number % len(self.past)]
        self.past[number % len(self.past)] = self.rate
        cut, octets, octets_more, time, time_more = terms(chance, then)
        marked = 1 - (1 - chance) ** (ALPHA * then)
        gap = self.target - self.rate
        fall, rise = self.rate * self.alpha * cut / (2 * CNP), gap * then * (octets + time) / 2
        more = INCREASE * then * (octets_more + time_more)
        self.rate = min(max(self.rate + STEP * (rise - fall), 1), LINK)
        self.target = min(self.target + STEP * (more - gap * cut / CNP), LINK)
        self.alpha += STEP * GAIN * (marked - self.alpha) / ALPHA
        return self.count * self.rate


class Sender:
    """One of several, by its events."""
    def __init__(self, rng):
        self.rng = rng
        self.rate = self.target = LINK
        self.alpha = 1
        self.is_marked = False  # a packet since the last CNP
        self.cnp_at = 0  # not before
        self.alpha_at = self.rise_at = math.inf
        self.timers = self.counters = self.sent = 0

    def cut(self, now):
        self.target, self.rate = self.rate, self.rate * (1 - self.alpha / 2)
        self.alpha = (1 - GAIN) * self.alpha + GAIN
        self.timers = self.counters = self.sent = 0
        self.cnp_at, self.alpha_at, self.rise_at = now + CNP, now + ALPHA, now + TIMER
        self.is_marked = False

    def rise(self):
        least = min(self.timers, self.counters)
        if least > RECOVERY:
            self.target += (least - RECOVERY) * HYPER
        elif max(self.timers, self.counters) > RECOVERY:
            self.target += INCREASE
        self.target = min(self.target, LINK)
        self.rate = (self.rate + self.target) / 2

    def step(self, now, chance):
        packets = self.rate * STEP
        if chance > 0 and self.rng.random() < chance * packets:
            self.is_marked = True
        if self.is_marked and now >= self.cnp_at:
            return self.cut(now)
        if now >= self.alpha_at:
            self.alpha *= 1 - GAIN
            self.alpha_at += ALPHA
        if now >= self.rise_at:
            self.rise_at += TIMER
            self.timers += 1
            self.rise()
        self.sent += packets
        if self.sent >= COUNTER:
            self.sent = 0
            self.counters += 1
            self.rise()
        return None


class Events:
    """Senders that differ by chance."""
    def __init__(self, count, seed):
        rng = random.Random(seed)
        self.senders = [Sender(rng) for _ in range(count)]

    def step(self, number, chance):
        for sender in self.senders:
            sender.step(number * STEP, chance)
        return sum(sender.rate for sender in self.senders)


def queue_kb(senders, line=1, seed=None):
    """Mean of the queue; with a seed by chance."""
    model = Means(senders) if seed is None else Events(senders, seed)
    steps = round(SENT / LINK / STEP)
    queue, past, seen = 0.0, [0.0] * round(DELAY / STEP), []
    for number in range(steps):
        then = past[number % len(past)]
        past[number % len(past)] = queue
        rate = model.step(number, mark_chance(then, line))
        queue = max(queue + STEP * (rate - LINK), 0)
        if steps / 4 <= number < steps * 3 / 4:
            seen.append(queue)
    return statistics.fmean(seen) * PACKET / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0],
                                     epilog="The head of this file says more.")
    parser.add_argument("--line", type=float, default=1)
    parser.add_argument("--chance", type=int, metavar="SEED")
    options = parser.parse_args()
    if not 0 < options.line <= LINE_MOST:
        parser.error(f"--line: more than 0, at most {LINE_MOST}")
    for senders in (2, 4, 8, 10, 16):
        print(f"{senders:3} senders  {queue_kb(senders, options.line, options.chance):6.1f} kB")


if __name__ == "__main__":
    main()
