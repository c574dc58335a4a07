import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type LiveNodes, shareOf } from "../runtime/nodes.ts"

/** The origin of an attempt, as the names that its counters use. */
export interface Origin {
  /** The IP address; for IPv6 the first 64 bits. */
  address: string
  /** The network of the address: /24 for IPv4, /64 for IPv6. */
  network: string
}

/** Limits for failed sign-ins. Times in seconds. */
export interface SignInLimitSettings {
  /** Maximum number of attempts per minute from one address. */
  perMinute: number
  /** Maximum number of failures per hour from one address. */
  failuresPerHour: number
  /** Failures of one account from one network within 15 minutes, after which further attempts are delayed. */
  failuresBeforeDelay: number
  /** The first delay. Each further failure doubles it. */
  delaySeconds: number
  maxDelaySeconds: number
}

/** A started attempt. It counts as failed until `succeed` is called. */
export interface Attempt {
  succeed(): void
  /** Removes the attempt from the counters, because it could not be checked. */
  withdraw(): void
}

/** An attempt with a code of a second factor. */
export interface CodeAttempt extends Attempt {
  /** Records that the code was wrong. Returns true if codes of the account are now paused: once per pause, so that the user gets one email. */
  fail(): boolean
}

/**
 * Rate limits against guessing that never lock a user out. Passwords are counted by network, so that an attacker elsewhere cannot delay
 * the owner of an account. Codes have only six digits, so they are also counted by account over all networks; passkeys still work then.
 * The counters are kept in memory. Every method throws `rate_limited`, before any hash is computed.
 */
export interface SignInLimits {
  /** Starts an attempt with a password. The account need not exist. */
  password(origin: Origin, account: string): Attempt
  /** Starts an attempt with a code, after the password was correct. */
  code(origin: Origin, userId: number): CodeAttempt
  /** Counts a request that stores a row or sends an email: at most `perMinute` from one address. */
  request(origin: Origin, what: string, perMinute: number): void
}

const MINUTE_MS = 60_000
const WINDOW_MS = 15 * MINUTE_MS
/** Maximum number of wrong codes for an account from one network. */
const CODES_PER_NETWORK = 5
/** Maximum number of wrong codes for an account from all networks. Several nodes divide the number among them. */
const CODES_PER_ACCOUNT = 20

interface SignInLimitOptions {
  clock: Pick<Clock, "now">
  figures: SignInLimitSettings
  /** The nodes that share the catalog. */
  nodes?: Pick<LiveNodes, "live"> | undefined
}

export function createSignInLimits({ clock, figures, nodes }: SignInLimitOptions): SignInLimits {
  const codesPerAccount = () => shareOf(CODES_PER_ACCOUNT, nodes)
  const tries = rememberedTimes(clock.now, MINUTE_MS)
  const failures = rememberedTimes(clock.now, 60 * MINUTE_MS)
  const ofAccounts = rememberedTimes(clock.now, WINDOW_MS)
  const codesFrom = rememberedTimes(clock.now, WINDOW_MS)
  const codesOf = rememberedTimes(clock.now, WINDOW_MS)
  const pauseNotices = rememberedTimes(clock.now, WINDOW_MS)
  const runs = runsOfFailures(clock.now, figures)

  const refuseIfFull = (at: number): void => refuseUntil(at, clock.now())

  function admit({ address }: Origin): void {
    refuseIfFull(tries.freeAt(address, figures.perMinute))
    refuseIfFull(failures.freeAt(address, figures.failuresPerHour))
  }
  /** Counts an attempt as failed from the start, so that concurrent attempts cannot exceed the limit before the first one fails. */
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
      refuseIfFull(runs.freeAt(name))
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
      const [network, account] = [`${userId} ${origin.network}`, String(userId)]
      refuseIfFull(codesFrom.freeAt(network, CODES_PER_NETWORK))
      refuseIfFull(codesOf.freeAt(account, codesPerAccount()))
      const attempt = begin(origin, codesFrom, network)
      const mark = codesOf.note(account)
      function withdraw(): void {
        attempt.withdraw()
        codesOf.forget(account, mark)
      }
      return {
        withdraw,
        // A correct code does not reset the counter. Otherwise an attacker could continue whenever the owner signs in.
        succeed: withdraw,
        fail() {
          if (codesOf.count(account) < codesPerAccount() || pauseNotices.count(account) > 0) return false
          pauseNotices.note(account)
          return true
        },
      }
    },
    request({ address }, what, perMinute) {
      const name = `${what} ${address}`
      refuseIfFull(tries.freeAt(name, perMinute))
      tries.note(name)
    },
  }
}

/** Throws `rate_limited` with the time to wait if `at` is in the future. */
export function refuseUntil(at: number, now: number): void {
  const wait = Math.ceil((at - now) / 1_000)
  if (wait > 0)
    throw new AppError("rate_limited", `Too many attempts. Try again in ${wait} ${wait === 1 ? "second" : "seconds"}.`, {
      retry_after: wait,
    })
}

/** Maximum number of names in a counter. Beyond it, the least recently used name is dropped. */
const MAX_NAMES = 50_000
/** Maximum number of times per name: the highest limit that can be configured. */
const MAX_TIMES = 1_000

/** A sliding window counter: the times of recent occurrences by name. */
interface RememberedTimes {
  count(name: string): number
  /** Returns the time at which fewer than `limit` occurrences remain in the window. */
  freeAt(name: string, limit: number): number
  /** Records an occurrence now. `forget` removes it by the returned mark. */
  note(name: string): Mark
  forget(name: string, mark: Mark): void
  clear(name: string): void
}
type Mark = { at: number }

/** Creates a sliding window counter that forgets occurrences after `lifeMs`. */
export function rememberedTimes(now: () => number, lifeMs: number): RememberedTimes {
  const known = new Map<string, Mark[]>()
  const live = (name: string): Mark[] => (known.get(name) ?? []).filter(({ at }) => at > now() - lifeMs)
  const keep = (name: string, marks: Mark[]): void => {
    // Deleted first, so that the map is ordered by last use.
    known.delete(name)
    if (marks.length > 0) known.set(name, marks.slice(-MAX_TIMES))
    if (known.size > MAX_NAMES) known.delete(known.keys().next().value!)
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
 * Creates the exponential back-off of accounts with too many failures: each further failure doubles the delay. It resets after 15 minutes
 * without a failure.
 */
function runsOfFailures(now: () => number, { failuresBeforeDelay, delaySeconds, maxDelaySeconds }: SignInLimitSettings) {
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
    /** Records a failure. `count` is the number of recent ones. */
    note(name: string, count: number): void {
      const run = live(name)
      if (!run && count < failuresBeforeDelay) return
      known.delete(name)
      known.set(name, { length: run ? run.length + 1 : 0, last: now() })
      if (known.size > MAX_NAMES) known.delete(known.keys().next().value!)
    },
    clear: (name: string) => void known.delete(name),
  }
}
