import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"

/** Where a try comes from, under the names it is counted by. */
export interface Origin {
  /** One address; of IPv6 its first 64 bits. */
  address: string
  /** Its neighbourhood: the /24, of IPv6 the /64. */
  network: string
}

/** How much guessing is borne. Times in seconds. */
export interface SignInFigures {
  /** Tries per minute from one address. */
  perMinute: number
  /** Failures per hour from one address. */
  failuresPerHour: number
  /** Failures within a quarter of an hour after which an account waits for tries from one neighbourhood. */
  failuresBeforeDelay: number
  /** The first wait; each further failure doubles it. */
  delaySeconds: number
  maxDelaySeconds: number
}

/** A try that has begun. It counts as failed until it is said to have been right. */
export interface Attempt {
  succeed(): void
  /** It was never judged: it does not count. */
  withdraw(): void
}

/**
 * Bounds guessing without locking anybody out: what is counted is where guesses come from, so a failure elsewhere never makes
 * an owner wait. Kept in memory. Every refusal is `rate_limited` and comes before any hash is computed.
 */
export interface SignInLimits {
  /** A password for an account, existing or not. */
  password(origin: Origin, account: string): Attempt
  /** A code for an account whose password was right. */
  code(origin: Origin, userId: number): Attempt
  /** A request that costs a row or a mail; `perMinute` of one address. */
  request(origin: Origin, what: string, perMinute: number): void
}

const MINUTE_MS = 60_000
const WINDOW_MS = 15 * MINUTE_MS
const CODES_PER_WINDOW = 5

export function createSignInLimits({ clock, figures }: { clock: Pick<Clock, "now">; figures: SignInFigures }): SignInLimits {
  const tries = rememberedTimes(clock.now, MINUTE_MS)
  const failures = rememberedTimes(clock.now, 60 * MINUTE_MS)
  const ofAccounts = rememberedTimes(clock.now, WINDOW_MS)
  const ofCodes = rememberedTimes(clock.now, WINDOW_MS)
  const runs = runsOfFailures(clock.now, figures)

  function admit({ address }: Origin): void {
    refuseUntil(tries.freeAt(address, figures.perMinute))
    refuseUntil(failures.freeAt(address, figures.failuresPerHour))
  }
  function refuseUntil(at: number): void {
    const wait = Math.ceil((at - clock.now()) / 1_000)
    if (wait > 0) throw new AppError("rate_limited", `Too many tries. Try again in ${wait} s.`, { retry_after: wait })
  }
  /** Counted as failed from the start: many at once must not slip through before the first has failed. */
  function begin({ address }: Origin, counter: RememberedTimes, name: string): Attempt {
    tries.note(address)
    const failure = failures.note(address)
    const own = counter.note(name)
    return {
      succeed() {
        failures.forget(address, failure)
        counter.clear(name)
      },
      withdraw() {
        failures.forget(address, failure)
        counter.forget(name, own)
      },
    }
  }

  return {
    password(origin, account) {
      admit(origin)
      const name = `${account} ${origin.network}`
      refuseUntil(runs.freeAt(name))
      const attempt = begin(origin, ofAccounts, name)
      runs.note(name, ofAccounts.count(name))
      return {
        ...attempt,
        succeed() {
          attempt.succeed()
          runs.clear(name)
        },
      }
    },
    code(origin, userId) {
      admit(origin)
      const name = `${userId} ${origin.network}`
      refuseUntil(ofCodes.freeAt(name, CODES_PER_WINDOW))
      return begin(origin, ofCodes, name)
    },
    request({ address }, what, perMinute) {
      const name = `${what} ${address}`
      refuseUntil(tries.freeAt(name, perMinute))
      tries.note(name)
    },
  }
}

/** Names remembered at once. Beyond it the one that was used longest ago is forgotten. */
const REMEMBERED = 50_000
/** Times remembered of one name: as many as the highest limit that can be set. */
const TIMES = 1_000

/** When something happened, by name, for as long as it counts. */
interface RememberedTimes {
  count(name: string): number
  /** When there are fewer than `limit` again; now or earlier if there are. */
  freeAt(name: string, limit: number): number
  /** Something happens now; the mark takes it back. */
  note(name: string): Mark
  forget(name: string, mark: Mark): void
  clear(name: string): void
}
type Mark = { at: number }

export function rememberedTimes(now: () => number, lifeMs: number): RememberedTimes {
  const known = new Map<string, Mark[]>()
  const live = (name: string): Mark[] => (known.get(name) ?? []).filter(({ at }) => at > now() - lifeMs)
  const keep = (name: string, marks: Mark[]): void => {
    // Taken out first, so that the map's order is the order of use.
    known.delete(name)
    if (marks.length > 0) known.set(name, marks.slice(-TIMES))
    if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
  }
  return {
    count: (name) => live(name).length,
    freeAt(name, limit) {
      const marks = live(name)
      return marks.length < limit ? 0 : marks.at(-limit)!.at + lifeMs
    },
    note(name) {
      const mark = { at: now() }
      keep(name, [...live(name), mark])
      return mark
    },
    forget: (name, mark) =>
      keep(
        name,
        live(name).filter((other) => other !== mark),
      ),
    clear: (name) => void known.delete(name),
  }
}

/**
 * Failures that follow one another once an account has had too many: each doubles the wait for the next. A run is over when
 * nothing has failed for a quarter of an hour after a wait.
 */
function runsOfFailures(now: () => number, { failuresBeforeDelay, delaySeconds, maxDelaySeconds }: SignInFigures) {
  const known = new Map<string, { length: number; last: number }>()
  const waitOf = (length: number): number => Math.min(delaySeconds * 2 ** length, maxDelaySeconds) * 1_000
  const live = (name: string) => {
    const run = known.get(name)
    return run && now() < run.last + waitOf(run.length) + WINDOW_MS ? run : undefined
  }
  return {
    freeAt(name: string): number {
      const run = live(name)
      return run ? run.last + waitOf(run.length) : 0
    },
    /** One more; `count` of them lately. */
    note(name: string, count: number): void {
      const run = live(name)
      if (!run && count < failuresBeforeDelay) return
      known.delete(name)
      known.set(name, { length: run ? run.length + 1 : 0, last: now() })
      if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
    },
    clear: (name: string) => void known.delete(name),
  }
}
