import { Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isClean, refuseFaults } from "#plugin"
import type { Scope } from "../area.ts"
import { integrationError } from "../errors.ts"
import { LIMITS } from "./webhook.ts"

const FIELDS = {
  url: t.String({
    minLength: 1,
    maxLength: LIMITS.urlChars,
    description: "URL that receives the events by POST. It is stored as a secret.",
  }),
  events: t.Array(t.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 60,
    uniqueItems: true,
    description: "Names of events, or `*` for all of them. `*` leaves out the events that must be named, which the list of events marks.",
  }),
  description: t.Optional(t.String({ maxLength: LIMITS.descriptionChars, description: "What the webhook is for." })),
}
const closed = { additionalProperties: false } as const

export const WebhookInput = t.Object(
  {
    ...FIELDS,
    scope: t.Optional(
      t.Union([t.Literal("site"), t.Literal("organization")], {
        description:
          "Whether the webhook receives the events of this site, or all of the organization, those without a site included. Default: `site`.",
      }),
    ),
  },
  { ...closed, title: "WebhookInput" },
)

export const WebhookPatch = t.Partial(
  t.Object(
    {
      ...FIELDS,
      enabled: t.Boolean({ description: "Whether events are sent. Enabling a webhook forgets why it was disabled." }),
      version: t.Integer({ minimum: 1, description: "Version that the change is based on." }),
    },
    closed,
  ),
  { title: "WebhookPatch" },
)

export interface NewWebhookFields {
  url: string
  events: string[]
  description: string
  scope: Scope
}

export interface WebhookChange {
  url?: string
  events?: string[]
  description?: string
  enabled?: boolean
  version?: number
}

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["id", "scope", "disabled_reason", "failing_since", "secret", "created_by", "created_at", "updated_at"]

/** Parses the body of a new webhook. Throws `validation_failed`, `unknown_event`. */
export function readNewWebhook(body: unknown, known: ReadonlySet<string>): NewWebhookFields {
  const { fields, faults } = inspect(WebhookInput, body)
  refuseFaults([...faults, ...textFaults(fields)])
  const { url, events, description = "", scope = "site" } = fields as NewWebhookFields // it is valid
  refuseUnknown(events, known)
  return { url: url.trim(), events: inOrder(events), description: description.trim(), scope }
}

/** Parses a patch of a webhook. A `url` that is the label of a GET keeps the stored URL. */
export function readWebhookPatch(body: unknown, known: ReadonlySet<string>, label: string): WebhookChange {
  const { fields, faults } = inspect(WebhookPatch, withoutLabel(body, label))
  refuseFaults([...faults, ...textFaults(fields)])
  const { url, events, description, ...others } = fields as WebhookChange // it is valid
  if (events) refuseUnknown(events, known)
  return {
    ...others,
    ...(url !== undefined && { url: url.trim() }),
    ...(events && { events: inOrder(events) }),
    ...(description !== undefined && { description: description.trim() }),
  }
}

function withoutLabel(body: unknown, label: string): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !READ_ONLY.includes(name) && !(name === "url" && value === label)),
  )
}

const textFaults = ({ description }: { description?: unknown }): Fault[] =>
  typeof description === "string" && !isClean(description)
    ? [fault("/description", "invalid_characters", "must not contain control characters")]
    : []

function refuseUnknown(events: readonly string[], known: ReadonlySet<string>): void {
  if (events.includes("*") && events.filter((name) => name !== "*").some((name) => known.has(name) && name !== "goal.completed"))
    refuseFaults([fault("/events", "unsupported_combination", "contains `*`, which includes the other events")])
  const index = events.findIndex((name) => name !== "*" && !known.has(name))
  if (index === -1) return
  const detail = `There is no event ${events[index]!.slice(0, 100)}.`
  const allowed = ["*", ...known]
  throw integrationError("unknown_event", detail, { errors: [{ pointer: `/events/${index}`, code: "unknown_event", detail, allowed }] })
}

const inOrder = (events: readonly string[]): string[] => [...events].sort()
