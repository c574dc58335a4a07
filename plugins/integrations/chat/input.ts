import { Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isClean, isObject, refuseFaults } from "#plugin"
import type { Scope } from "../area.ts"
import { type ChatKind, ntfyTopic } from "./forms.ts"

const NAME = t.String({ minLength: 1, maxLength: 100, description: "Display name." })
const URL_TEXT = t.String({
  minLength: 1,
  maxLength: 2_048,
  description: "URL that the service has given you for incoming messages. It is stored as a secret.",
})
const API_KEY = t.String({ minLength: 1, maxLength: 200, description: "Token of the Telegram bot. It is stored as a secret." })
const CONFIG = t.Object(
  {
    events: t.Optional(
      t.Array(t.String(), {
        maxItems: 40,
        uniqueItems: true,
        description: "Names of the events that the chat receives. Default: all that chats can receive and that need not be named.",
      }),
    ),
    chat_id: t.Optional(
      t.String({
        pattern: "^(-?\\d{1,20}|@[A-Za-z0-9_]{4,32})$",
        description: "Id or `@name` of the Telegram chat. Required for Telegram only.",
      }),
    ),
  },
  { additionalProperties: false, description: "Settings of the kind." },
)
const closed = { additionalProperties: false } as const

export const ConnectInput = t.Object(
  {
    url: t.Optional(URL_TEXT),
    api_key: t.Optional(API_KEY),
    name: t.Optional(NAME),
    config: t.Optional(CONFIG),
    scope: t.Optional(
      t.Union([t.Literal("site"), t.Literal("organization")], {
        description: "Whether the chat receives the events of this site or of the whole organization. Default: `site`.",
      }),
    ),
  },
  { ...closed, title: "IntegrationConnectInput" },
)

export const IntegrationPatch = t.Object(
  {
    name: t.Optional(NAME),
    config: t.Optional(CONFIG),
    url: t.Optional(URL_TEXT),
    api_key: t.Optional(API_KEY),
    version: t.Optional(t.Integer({ minimum: 1, description: "Version that the change is based on." })),
  },
  { ...closed, title: "IntegrationPatch" },
)

/** A type alias, because an interface does not fit a record. */
export type ChatConfig = {
  events?: string[]
  chat_id?: string
}

export interface ReadConnect {
  secret: string
  name: string | undefined
  config: ChatConfig
  scope: Scope
}

/** Parses the body that connects a chat service. Throws `validation_failed` with all faults. */
export function readConnect(body: unknown, kind: ChatKind, known: readonly string[]): ReadConnect {
  const { fields, faults } = inspect(ConnectInput, body)
  const {
    url,
    api_key,
    name,
    config = {},
    scope = "site",
  } = fields as Partial<Record<"url" | "api_key" | "name", string>> & {
    config?: ChatConfig
    scope?: Scope
  } // what is of another type has a fault
  refuseFaults([...faults, ...secretFaults(kind, { url, api_key }, true), ...nameFaults(name), ...configFaults(kind, config, known)])
  return { secret: (kind === "telegram" ? api_key! : url!).trim(), name: name?.trim(), config, scope } // the faults are refused
}

export interface ReadPatch {
  secret?: string
  name?: string
  config?: ChatConfig
  version?: number
}

/** Parses a patch of a chat. A patch without a secret keeps the stored one, and settings that it does not name stay. */
export function readPatch(body: unknown, kind: ChatKind, known: readonly string[], present: ChatConfig): ReadPatch {
  const { fields, faults } = inspect(IntegrationPatch, body)
  const {
    url,
    api_key,
    name,
    config: changed,
    version,
  } = fields as Partial<Record<"url" | "api_key" | "name", string>> & {
    config?: ChatConfig
    version?: number
  } // what is of another type has a fault
  const secret = kind === "telegram" ? api_key : url
  const config = changed && { ...present, ...changed }
  const all = [
    ...faults,
    ...secretFaults(kind, { url, api_key }, false),
    ...nameFaults(name),
    ...(config ? configFaults(kind, config, known) : []),
  ]
  refuseFaults(all)
  return {
    ...(secret !== undefined && { secret: secret.trim() }),
    ...(name !== undefined && { name: name.trim() }),
    ...(config && { config }),
    ...(version !== undefined && { version }),
  }
}

/** Checks that the secret has the form of the kind. Tokens become a part of a URL, so they must not change it. */
function secretFaults(kind: ChatKind, { url, api_key }: { url?: unknown; api_key?: unknown }, isRequired: boolean): Fault[] {
  const [wanted, other] = kind === "telegram" ? (["api_key", "url"] as const) : (["url", "api_key"] as const)
  const value = { url, api_key }[wanted]
  const faults: Fault[] = []
  if ({ url, api_key }[other] !== undefined) faults.push(fault(`/${other}`, "not_allowed", `is not used by ${kind}`))
  if (value === undefined && isRequired) faults.push(fault(`/${wanted}`, "required", "is required"))
  if (typeof value !== "string") return faults
  if (kind === "telegram" && !/^\d{3,20}:[A-Za-z0-9_-]{20,100}$/.test(value.trim()))
    faults.push(fault("/api_key", "invalid_format", "is not the token of a bot, such as 123456:ABC-DEF…"))
  if (kind !== "telegram" && !URL.canParse(value.trim())) faults.push(fault("/url", "invalid_url", "is not a URL"))
  else if (kind === "ntfy" && !/^[A-Za-z0-9_-]{1,64}$/.test(ntfyTopic(value.trim()).topic))
    faults.push(fault("/url", "invalid_url", "must end with the name of a topic"))
  return faults
}

const nameFaults = (name: unknown): Fault[] =>
  typeof name === "string" && !isClean(name) ? [fault("/name", "invalid_characters", "must not contain control characters")] : []

function configFaults(kind: ChatKind, config: unknown, known: readonly string[]): Fault[] {
  const { events, chat_id } = (isObject(config) ? config : {}) as { events?: unknown; chat_id?: unknown } // checked below
  const faults: Fault[] = []
  if (kind === "telegram" && chat_id === undefined) faults.push(fault("/config/chat_id", "required", "is required"))
  if (kind !== "telegram" && chat_id !== undefined) faults.push(fault("/config/chat_id", "unknown_field", "does not exist"))
  for (const [index, name] of (Array.isArray(events) ? events : []).entries())
    if (typeof name === "string" && !known.includes(name))
      faults.push({
        pointer: `/config/events/${index}`,
        code: "invalid_choice",
        detail: "is not an event that chats receive",
        allowed: known,
      })
  return faults
}
