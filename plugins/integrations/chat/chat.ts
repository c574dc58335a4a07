import { failureCode, isObject, type OwnStatements, type PublishedEvent } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { ONLY_BY_NAME, wantedEvents } from "../events.ts"
import { fail } from "../health.ts"
import type { Integration, KindFacts } from "../integration.ts"
import { REPORT_READY } from "../reports/events.ts"
import { integrationById, listIntegrations, noteSuccess } from "../rows.ts"
import type { ChatMessage } from "../text.ts"
import { type ChatKind, type ChatTarget, isChatKind, requestOf } from "./forms.ts"
import { messageOf, TEST_MESSAGE } from "./messages.ts"

/** The job that sends one message to one chat. */
export const SEND = "send-chat"

export interface SendPayload {
  integrationId: number
  outboxId: number
}

/** The chat services, as `GET /integrations` lists them. */
export const CHAT_KINDS: readonly (KindFacts & { kind: ChatKind })[] = [
  { kind: "slack", name: "Slack", category: "chat", connect_by: ["url"] },
  { kind: "discord", name: "Discord", category: "chat", connect_by: ["url"] },
  { kind: "teams", name: "Microsoft Teams", category: "chat", connect_by: ["url"] },
  { kind: "mattermost", name: "Mattermost", category: "chat", connect_by: ["url"] },
  { kind: "ntfy", name: "ntfy", category: "chat", connect_by: ["url"] },
  { kind: "telegram", name: "Telegram", category: "chat", connect_by: ["api_key"] },
]

/** Events that chats can receive, if an installed plugin publishes them. */
export const CHAT_EVENTS: readonly string[] = [
  "traffic.spike",
  "traffic.drop",
  "traffic.stopped",
  "traffic.goal",
  "traffic.not_found",
  "traffic.resolved",
  "goal.completed",
  "report.ready",
  "import.completed",
  "import.failed",
  "import.undone",
  "backup.failed",
]

/** Result of sending a message. `code` names the failure, and `isFinal` says that repeating it can't help. */
export interface Sending {
  ok: boolean
  ms: number
  code?: string
  isFinal?: boolean
  detail: string
}

/** Messages to chat services, in fixed templates. */
export interface Chat {
  /** Returns the events that a chat receives. */
  eventsOf(config: Integration["config"]): string[]
  /** Sends the test message. */
  test(target: ChatTarget): Promise<Sending>
  /** Returns the events of which a chat receives a message. */
  concerned(events: readonly PublishedEvent[]): Promise<PublishedEvent[]>
  /** Queues the messages of an event. Called again for the same event, it adds none. */
  accept(event: PublishedEvent): Promise<void>
  /** Queues the message of an event for one chat, in the caller's transaction: for alerts, which name their channels. */
  enqueue(statements: OwnStatements, integrationId: number, outboxId: number): Promise<void>
  /** Sends one message. Throws if it must be tried again. For the job. */
  send(payload: SendPayload, isLastAttempt: boolean): Promise<void>
}

/** Whether an event is for chats at all: the reports that people receive by email are not. */
const isForChats = ({ event, payload }: PublishedEvent): boolean =>
  event !== REPORT_READY || (isObject(payload) && payload.channel === "chat")

const STATUS_REMOVED: ReadonlySet<number> = new Set([401, 403, 404, 410])

export function createChat(host: IntegrationsHost): Chat {
  const { db } = host
  const known = (): string[] => CHAT_EVENTS.filter((event) => Object.hasOwn(host.productEvents(), event))

  const eventsOf: Chat["eventsOf"] = ({ events }) =>
    Array.isArray(events) ? events.map(String) : known().filter((event) => !ONLY_BY_NAME.includes(event))

  const receives = ({ kind, config }: Integration, event: string): boolean => isChatKind(kind) && eventsOf(config).includes(event)

  async function deliver(target: ChatTarget, message: ChatMessage): Promise<Sending> {
    const { url, body, byOperator } = requestOf(target, message, host.settings.telegram_api_base)
    try {
      const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
      const { status, ms } = await host.fetch(url, { ...request, follows: false, byOperator, maxBytes: 64 << 10 })
      if (status >= 200 && status < 300) return { ok: true, ms, detail: `The service accepted the message (status ${status}).` }
      const code = STATUS_REMOVED.has(status) ? "removed" : "rejected"
      // 400 and 413 concern the message, not the address: the same message would be rejected again.
      const isFinal = status < 500 && status !== 429 && status !== 408
      return { ok: false, ms, code, isFinal, detail: `The service answered with status ${status}.` }
    } catch (error) {
      const code = failureCode(error)
      if (code === undefined) throw error
      const isFinal = code === "blocked_address" || code === "outbound_disabled"
      return { ok: false, ms: 0, code, isFinal, detail: (error as Error).message } // it has a code, so it is an AppError
    }
  }

  const enqueue: Chat["enqueue"] = async (statements, integrationId, outboxId) => {
    const payload: SendPayload = { integrationId, outboxId }
    const [key, slot] = [String(integrationId), `${integrationId} ${outboxId}`]
    await host.jobs.enqueue(SEND, { payload, key, slot }, statements)
  }

  return {
    eventsOf,
    enqueue,
    test: (target) => deliver(target, TEST_MESSAGE),
    concerned: (events) => wantedEvents(events.filter(isForChats), (place) => listIntegrations(db, place), receives),
    async accept(published) {
      const { id, event, organization_id, site_id } = published
      if (!isForChats(published)) return
      const chats = (await listIntegrations(db, { organization_id, site_id })).filter((chat) => receives(chat, event))
      if (chats.length === 0) return
      await db.transaction(async (statements) => {
        for (const chat of chats) await enqueue(statements, chat.id, id)
      })
    },
    async send({ integrationId, outboxId }, isLastAttempt) {
      const integration = await integrationById(db, integrationId)
      const event = await host.outbox.get(outboxId)
      if (!integration || !event || !isChatKind(integration.kind)) return
      const secret = integration.secret_id === null ? undefined : await host.secrets.open(integration.secret_id)
      if (secret === undefined) return fail(host, integration, "needs_reauth", "secret_unreadable")
      const site = event.site_id === null ? undefined : host.services.sites.directory.byId(event.site_id)
      const message = messageOf(event, { siteName: site?.name, title: host.productEvents()[event.event]?.title, baseUrl: host.baseUrl() })
      const sent = await deliver({ kind: integration.kind, secret, config: integration.config }, message)
      if (sent.ok) return noteSuccess(db, integration.id, host.now())
      const code = sent.code ?? "rejected"
      const isOver = sent.isFinal || isLastAttempt
      await fail(host, integration, isOver ? "error" : "degraded", code)
      if (!isOver) throw new Error(`A message to ${integration.kind} failed: ${code}`)
    },
  }
}
