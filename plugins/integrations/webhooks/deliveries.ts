import { AppError, excerptOf, failureCode, type OwnStatements, type PublishedEvent } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { wantedEvents } from "../events.ts"
import { disable, recipientsOf } from "./disabling.ts"
import { type Endpoint, openEndpoint } from "./endpoint.ts"
import { type MessageEvent, messageBody, newMessageId, signedHeaders } from "./message.ts"
import {
  type Attempted,
  endWaiting,
  insertDeliveries,
  listDue,
  listLanes,
  listReceivers,
  nextDueAt,
  noteHealth,
  resumeStopped,
  updateDeliveries,
  webhookById,
} from "./rows.ts"
import { type Delivery, LIMITS, type Webhook, wants } from "./webhook.ts"

/** The job that attempts due deliveries. */
export const DELIVER = "deliver-webhooks"

/** Sends product events to webhooks: at least once, one at a time per webhook, and no receiver delays another. */
export interface Deliveries {
  /** Returns the events that a webhook wants. */
  concerned(events: readonly PublishedEvent[]): Promise<PublishedEvent[]>
  /** Stores a delivery for each webhook that wants an event. Called again for the same event, it adds none. */
  accept(event: PublishedEvent): Promise<void>
  /** Lets the job run soon, in the transaction that adds a delivery. Call `arrived` when it is committed. */
  enqueue(statements: OwnStatements): Promise<void>
  /** Notes that a webhook has something to deliver. Call it right after the commit, so that a run that begins then knows. */
  arrived(webhookId: number): void
  /** Takes over a change of a webhook. A new URL resumes the deliveries that were stopped. */
  changed(webhookId: number, change?: { hasNewUrl: boolean }): Promise<void>
  /** Attempts everything that is due, until nothing is left. For the job. */
  run(signal: AbortSignal): Promise<void>
  /** Returns the message of a delivery as it is sent. Returns undefined if its event is no longer stored. */
  bodyOf(webhook: Webhook, delivery: Delivery): Promise<string | undefined>
}

/** A webhook with something to deliver. */
interface Lane {
  /** Time of its next attempt, in epoch milliseconds. */
  dueAt: number
  /** Whether the last attempt failed. */
  isFailing: boolean
  isBusy: boolean
}

/** Deliveries that a lane attempts before it lets another one take its place, and before their results are stored. */
const BATCH = 20
/** Time after which results are stored although the batch is not full. What was not stored is sent again after a kill. */
const BATCH_MS = 1_000
const REMEMBERED_EVENTS = 256
/** Time between the beginnings of two attempts: the 700 a second of a backlog leave half of the thread to events and reports. */
const SPACING_MS = 1.4

export function createDeliveries(host: IntegrationsHost): Deliveries {
  const { db, now, random, log } = host
  const lanes = new Map<number, Lane>()
  /** URLs and secrets by webhook, with the version of the webhook that they belong to. */
  const endpoints = new Map<number, { version: number; endpoint: Endpoint }>()
  const events = new Map<number, PublishedEvent>()
  const untilTurn = turns(SPACING_MS)
  let areLanesLoaded = false
  let running: Promise<void> | undefined
  /** Ends the pause of a run when there is something new to do. */
  let nudge = (): void => {}

  /** Loads the lanes after a start. What was stopped is attempted once more, because the operator may have changed a setting. */
  async function loadLanes(): Promise<void> {
    if (areLanesLoaded) return
    for (let after = 0, count = 500; count === 500; ) {
      const webhooks = await listLanes(db, after)
      for (const webhook of webhooks) {
        const resumed = webhook.enabled ? await resumeAll(webhook.id) : 0
        const dueAt = resumed > 0 ? now() : webhook.due_at
        if (webhook.enabled && dueAt !== null) setLane(webhook, dueAt)
      }
      after = webhooks.at(-1)?.id ?? after
      count = webhooks.length
    }
    areLanesLoaded = true
  }
  async function resumeAll(webhookId: number): Promise<number> {
    let total = 0
    for (let count = 1; count > 0; total += count) count = await resumeStopped(db, webhookId, now())
    return total
  }
  function setLane({ id, failing_since, paused_until }: Pick<Webhook, "id" | "failing_since" | "paused_until">, dueAt: number): void {
    const isBusy = lanes.get(id)?.isBusy ?? false
    const pause = Math.min(paused_until ?? 0, now() + LIMITS.longestWaitMs)
    lanes.set(id, { dueAt: Math.max(dueAt, pause), isFailing: failing_since !== null, isBusy })
  }
  function arrived(id: number): void {
    const lane = lanes.get(id)
    if (lane) lane.dueAt = Math.min(lane.dueAt, now())
    else lanes.set(id, { dueAt: now(), isFailing: false, isBusy: false })
    nudge()
  }

  async function eventOf(delivery: Delivery, webhook: Webhook): Promise<MessageEvent | undefined> {
    const { outbox_id, event, created_at } = delivery
    if (outbox_id === null)
      return { event, organization_id: webhook.organization_id, site_id: webhook.site_id, payload: {}, at: created_at }
    const known = events.get(outbox_id)
    if (known) return known
    const read = await host.outbox.get(outbox_id)
    if (read) events.set(outbox_id, read)
    if (events.size > REMEMBERED_EVENTS) events.delete(events.keys().next().value!) // it has more than none
    return read
  }

  /** Sends a delivery once. Throws if the run is ending, so that the attempt does not count. */
  async function attempt(delivery: Delivery, webhook: Webhook, endpoint: Endpoint, signal: AbortSignal): Promise<Outcome> {
    const event = await eventOf(delivery, webhook)
    if (!event) return { result: "lost", ms: 0 }
    const body = messageBody(delivery, event)
    const secrets = endpoint.secrets.filter(({ until }) => until === null || until > now()).map(({ text }) => text)
    const headers = signedHeaders(body, { id: delivery.message_id, at: now(), secrets })
    const terms = { method: "POST", headers, body, follows: false, timeoutMs: LIMITS.timeoutMs, signal }
    try {
      const answer = await host.fetch(endpoint.url, terms)
      const { status, ms, retryAfterMs } = answer
      if (status >= 200 && status < 300) return { result: "delivered", status, ms }
      return { result: status === 410 ? "gone" : "failed", status, ms, detail: excerptOf(answer.body), retryAfterMs }
    } catch (error) {
      const code = failureCode(error)
      if (code === undefined || signal.aborted) throw error
      const isStopped = code === "blocked_address" || code === "outbound_disabled"
      return { result: isStopped ? "stopped" : "failed", code, ms: 0, detail: error instanceof AppError ? error.message : "" }
    }
  }

  async function endpointOf(webhook: Webhook): Promise<Endpoint> {
    const { id, version } = webhook
    const known = endpoints.get(id)
    if (known?.version === version) return known.endpoint
    const endpoint = await openEndpoint(host, webhook)
    endpoints.set(id, { version, endpoint })
    return endpoint
  }

  /**
   * Attempts a batch of one webhook and stores the results. The batch of a failing one ends with its first failure, and any batch when the
   * webhook is changed, so that nothing more is sent to an old URL.
   */
  async function serve(id: number, lane: Lane, signal: AbortSignal): Promise<void> {
    const webhook = await webhookById(db, id)
    if (!webhook?.enabled) {
      endpoints.delete(id)
      return void lanes.delete(id)
    }
    const endpoint = await endpointOf(webhook)
    const done: Attempted[] = []
    const begun = now()
    let last: Outcome | undefined
    for (const delivery of await listDue(db, id, now(), BATCH)) {
      await untilTurn()
      if (signal.aborted || endpoints.get(id)?.endpoint !== endpoint) break
      last = endpoint.url === "" ? UNREADABLE : await attempt(delivery, webhook, endpoint, signal).catch(unlessAborted(signal))
      if (!last) break
      done.push(attempted(delivery, last, { now: now(), random }))
      if (last.result !== "delivered" || now() - begun > BATCH_MS) break
    }
    await settle(webhook, done, last)
    // Deliveries that arrived meanwhile have set the lane; otherwise its next time is in the table.
    const present = await webhookById(db, id)
    const dueAt = present?.enabled ? await nextDueAt(db, id) : undefined
    if (present && dueAt !== undefined) setLane(present, dueAt)
    else if (lane.isBusy) lanes.delete(id)
  }

  /** Stores the results of a batch. A webhook that was changed during the attempts is not judged by them: its URL may be another one. */
  async function settle(webhook: Webhook, done: readonly Attempted[], last: Outcome | undefined): Promise<void> {
    if (!last || done.length === 0) return
    const health = healthAfter(webhook, last, done.at(-1)!.attempt, now())
    const reason = last.result === "gone" ? "gone" : isOver(health.failing_since, now()) ? "failing" : undefined
    const recipients = reason ? await recipientsOf(host, webhook) : []
    const isDisabled = await db.transaction(async (statements) => {
      const present = await webhookById(statements, webhook.id)
      if (!present) return false
      await updateDeliveries(statements, done)
      if (present.version !== webhook.version) return !present.enabled
      if (health.failing_since !== webhook.failing_since || health.paused_until !== webhook.paused_until)
        await noteHealth(statements, webhook.id, health)
      if (reason) await disable(host, statements, { ...present, ...health }, { reason, recipients })
      return reason !== undefined
    })
    if (!isDisabled) return
    for (let count = 1; count > 0; ) count = await endWaiting(db, webhook.id)
  }

  /** Starts lanes while places are free. Returns the time at which the next lane is due, if none can start now. */
  function startLanes(work: Set<Promise<void>>, signal: AbortSignal): number {
    let failing = [...lanes.values()].filter(({ isBusy, isFailing }) => isBusy && isFailing).length
    let next = Number.POSITIVE_INFINITY
    for (const [id, lane] of lanes) {
      if (lane.isBusy) continue
      if (lane.dueAt > now()) next = Math.min(next, lane.dueAt)
      else if (work.size < LIMITS.parallel && (!lane.isFailing || failing < LIMITS.parallelFailing)) {
        if (lane.isFailing) failing++
        lane.isBusy = true
        // A lane that was served goes to the end, so that each gets its turn.
        lanes.delete(id)
        lanes.set(id, lane)
        const turn: Promise<void> = serve(id, lane, signal)
          .catch((error) => {
            log.error("a webhook could not be served", { webhook: id, error })
            lane.dueAt = now() + LIMITS.retriesMs[0]
          })
          .finally(() => {
            work.delete(turn)
            const present = lanes.get(id)
            if (present) present.isBusy = false
          })
        work.add(turn)
      }
    }
    return next
  }

  async function deliverAll(signal: AbortSignal): Promise<void> {
    await loadLanes()
    const work = new Set<Promise<void>>()
    for (;;) {
      const news = Promise.withResolvers<void>()
      nudge = news.resolve
      const next = signal.aborted ? Number.POSITIVE_INFINITY : startLanes(work, signal)
      if (work.size === 0) {
        nudge = () => {}
        if (Number.isFinite(next)) await host.jobs.enqueue(DELIVER, { runAt: next, join: true })
        return
      }
      await Promise.race([...work, news.promise])
    }
  }

  const enqueue: Deliveries["enqueue"] = async (statements) => void (await host.jobs.enqueue(DELIVER, { join: true }, statements))

  return {
    enqueue,
    arrived,
    concerned: (events) => wantedEvents(events, (place) => listReceivers(db, place), wants),
    async accept({ id, event, organization_id, site_id }) {
      const receivers = (await listReceivers(db, { organization_id, site_id })).filter((webhook) => wants(webhook, event))
      if (receivers.length === 0) return
      const messages = receivers.map((webhook) => ({ webhook_id: webhook.id, message_id: newMessageId(random) }))
      const insertAll = async (statements: OwnStatements): Promise<Delivery[]> => {
        const added = await insertDeliveries(statements, { outbox_id: id, event, now: now() }, messages)
        if (added.length > 0) await enqueue(statements)
        return added
      }
      await db.transaction(insertAll, (added) => {
        for (const { webhook_id } of added) arrived(webhook_id)
      })
    },
    async changed(webhookId, { hasNewUrl } = { hasNewUrl: false }) {
      endpoints.delete(webhookId)
      if (hasNewUrl) await resumeAll(webhookId)
      const webhook = await webhookById(db, webhookId)
      if (!webhook?.enabled) {
        if (webhook) for (let count = 1; count > 0; ) count = await endWaiting(db, webhookId)
        lanes.delete(webhookId)
        return
      }
      if ((await nextDueAt(db, webhookId)) === undefined) return
      setLane(webhook, now())
      await host.jobs.enqueue(DELIVER, { join: true })
      nudge()
    },
    run(signal) {
      running ??= deliverAll(signal).finally(() => {
        running = undefined
      })
      return running
    },
    async bodyOf(webhook, delivery) {
      const event = await eventOf(delivery, webhook)
      return event && messageBody(delivery, event)
    },
  }
}

/** Returns a function that resolves for one caller after another, with a time in milliseconds between them. */
function turns(spacing: number): () => Promise<void> {
  let next = 0
  return async () => {
    const now = performance.now()
    next = Math.max(now, next + spacing)
    if (next > now) await Bun.sleep(next - now)
  }
}

/** What became of one attempt. */
interface Outcome {
  /** `stopped` waits for a change of the URL or of a setting, `lost` has no event any more. */
  result: "delivered" | "failed" | "gone" | "stopped" | "lost"
  status?: number
  code?: string
  ms: number
  detail?: string
  retryAfterMs?: number | undefined
}

/** The URL can't be decrypted: the secret key of the instance was lost, and the URL must be entered again. */
const UNREADABLE: Outcome = { result: "stopped", code: "secret_unreadable", ms: 0, detail: "The URL can't be decrypted. Enter it again." }

const unlessAborted =
  (signal: AbortSignal) =>
  (error: unknown): undefined => {
    if (!signal.aborted) throw error
  }

const SLOWED: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Returns the row of a delivery after an attempt. */
function attempted(
  delivery: Delivery,
  { result, status, code, ms, detail }: Outcome,
  { now, random }: { now: number; random: (bytes: number) => Uint8Array },
): Attempted {
  const attempt = delivery.attempt + 1
  const pause = LIMITS.retriesMs[attempt - 1]
  const isRetried = result === "failed" && pause !== undefined
  return {
    id: delivery.id,
    attempt,
    state: result === "delivered" ? "delivered" : isRetried || result === "stopped" ? "failed" : "dead",
    status: status ?? null,
    code: result === "delivered" ? null : result === "lost" ? "event_expired" : (code ?? `status_${status}`),
    ms,
    response_excerpt: result === "delivered" ? null : (detail ?? null),
    next_at: isRetried ? now + Math.round(pause * jitter(random)) : null,
  }
}

/** Returns a factor between 0.8 and 1.2. */
function jitter(random: (bytes: number) => Uint8Array): number {
  const [high, low] = random(2) as unknown as [number, number] // as many as asked for
  return 1 - LIMITS.jitter + 2 * LIMITS.jitter * ((high * 256 + low) / 65_535)
}

/** Returns since when a webhook has been failing, and until when its receiver wants to be left alone. */
function healthAfter(
  { failing_since }: Webhook,
  { result, status, retryAfterMs }: Outcome,
  attempt: number,
  now: number,
): Pick<Webhook, "failing_since" | "paused_until"> {
  if (result === "delivered") return { failing_since: null, paused_until: null }
  const isSlowed = status !== undefined && SLOWED.has(status)
  const pause = isSlowed ? (retryAfterMs ?? LIMITS.retriesMs[Math.min(attempt, LIMITS.retriesMs.length) - 1]!) : 0
  // What was stopped or lost says nothing about the receiver.
  const counts = result === "failed" || result === "gone"
  return {
    failing_since: counts ? (failing_since ?? now) : failing_since,
    paused_until: pause > 0 ? now + pause : null,
  }
}

const isOver = (failingSince: number | null, now: number): boolean => failingSince !== null && now - failingSince >= LIMITS.failingMs
