import type { WaitingMail } from "../../store/catalog/outbox.ts"
import type { EmailMessage } from "./mail.ts"

/** An email of the queue with its decrypted content. */
export interface OpenedMail extends Omit<WaitingMail, "sealed"> {
  email: EmailMessage
}

interface DeliveryOptions {
  /** Lists due emails, longest waiting first, without those with these ids, and whether there may be more. */
  load(except: readonly number[], limit: number): Promise<{ mails: OpenedMail[]; hasMore: boolean }>
  /** Sends an email and stores what became of it. */
  send(mail: OpenedMail): Promise<void>
  /** Closes the connections at the end of a run. */
  close(): Promise<void>
}

/** Delivery of the queued emails. */
export interface Delivery {
  /** Sends all due emails. Joins a run that has begun. Resolves when no due email is left. */
  run(): Promise<void>
  /** Resolves when no run is under way. */
  settled(): Promise<void>
  /** Starts no further email, and resolves when those under way have ended. */
  stop(): Promise<void>
}

/** Most emails under way, and those of them to recipients at one domain, whose mail server may hang. */
export const MAX_CONNECTIONS = 8
const MAX_PER_DOMAIN = 4
/** Interval at which another connection is used while emails wait. Few emails need no more than one. */
const GROWTH_MS = 1_000
const BATCH = 50
/** Emails in memory. More than these wait for one domain only if its server hangs. */
const MAX_WAITING = 500

/**
 * Sends emails over several connections, so that a slow or hanging dialogue delays no email to other domains by more than a second. Emails
 * to one address are sent one after another, in the order in which they were queued.
 */
export function createDelivery({ load, send, close }: DeliveryOptions): Delivery {
  let running: Promise<void> | undefined
  let hasMore = false
  let isStopped = false
  let wake = Promise.withResolvers<void>()

  async function runAll(): Promise<void> {
    try {
      while (hasMore && !isStopped) await sendAll()
    } finally {
      running = undefined
    }
  }

  async function sendAll(): Promise<void> {
    const waiting: OpenedMail[] = []
    const active = new Map<OpenedMail, Promise<void>>()
    let connections = 1
    let failure: unknown
    const growth = setInterval(() => {
      if (connections === MAX_CONNECTIONS || (waiting.length === 0 && !hasMore)) return
      connections++
      wake.resolve()
    }, GROWTH_MS)
    try {
      while (failure === undefined) {
        for (let next = 0; next !== -1 && active.size < connections && !isStopped; ) {
          next = waiting.findIndex((mail) => hasTurn(mail, active.keys()))
          const [mail] = next === -1 ? [] : waiting.splice(next, 1)
          if (mail) active.set(mail, sendOne(mail))
        }
        if (active.size < connections && hasMore && waiting.length < MAX_WAITING && !isStopped) await loadMore()
        else if (active.size === 0) break
        else await wake.promise
        wake = Promise.withResolvers()
      }
    } finally {
      clearInterval(growth)
      await Promise.all(active.values())
      await close()
    }
    if (failure !== undefined) throw failure

    async function loadMore(): Promise<void> {
      // An email that is queued while the list is read sets it again.
      hasMore = false
      const known = [...active.keys(), ...waiting].map(({ id }) => id)
      const next = await load(known, BATCH)
      waiting.push(...next.mails)
      hasMore ||= next.hasMore
    }

    async function sendOne(mail: OpenedMail): Promise<void> {
      try {
        await send(mail)
      } catch (error) {
        failure ??= error
      } finally {
        active.delete(mail)
        wake.resolve()
      }
    }
  }

  return {
    run() {
      hasMore = true
      wake.resolve()
      running ??= runAll()
      return running
    },
    settled: async () => running?.catch(() => {}),
    async stop() {
      isStopped = true
      wake.resolve()
      await running?.catch(() => {})
    },
  }
}

/** Returns whether an email can be sent next to those under way. */
function hasTurn({ email }: OpenedMail, active: Iterable<OpenedMail>): boolean {
  let sameDomain = 0
  for (const other of active) {
    if (other.email.to.toLowerCase() === email.to.toLowerCase()) return false
    if (domainOf(other.email) === domainOf(email)) sameDomain++
  }
  return sameDomain < MAX_PER_DOMAIN
}

const domainOf = ({ to }: EmailMessage): string => to.slice(to.lastIndexOf("@") + 1).toLowerCase()
