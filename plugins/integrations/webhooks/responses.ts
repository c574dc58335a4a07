/** Responses of the routes for webhooks. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, instantOrNull, instantText, orNull, textOf, UPDATED_AT } from "#plugin"
import { scopeOf } from "../area.ts"
import type { Delivery, DeliveryState, DisabledReason, Webhook } from "./webhook.ts"

/** A stored secret, which is never returned. */
export const ShownSecret = t.Object(
  {
    set: field.flag("Whether the secret is set."),
    hint: t.Optional(field.text("Its last four characters.")),
    updated_at: t.Optional(field.instant("Time of its last change.")),
  },
  { description: "The stored secret, without its value." },
)
type ShownSecret = Static<typeof ShownSecret>

const FIELDS = {
  id: field.id("Id of the webhook."),
  scope: textOf<"site" | "organization">({ description: "`site`, or `organization` for the events of all its sites and its own." }),
  url: field.text("Host and last four characters of the URL. The rest is a secret."),
  description: field.text("What the webhook is for."),
  events: field.texts("Names of the events that are sent, or `*`."),
  enabled: field.flag("Whether events are sent."),
  disabled_reason: orNull(textOf<DisabledReason>(), {
    description:
      "Why it is disabled: `failing` (no success for five days), `gone` (the receiver answered 410) or `manual`. null while enabled.",
  }),
  failing_since: orNull(field.instant("Time of the first of the failed attempts without a success since."), {
    description: "Time of the first failed attempt since the last success. null if the last attempt succeeded.",
  }),
  secret: ShownSecret,
  created_by: orNull(t.Integer(), { description: "Id of the user who created the webhook." }),
  version: field.id("Version of the webhook, which increases with each change."),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
}
export const WebhookResponse = t.Object(FIELDS, { title: "Webhook" })
export type WebhookResponse = Static<typeof WebhookResponse>

/** A webhook with its new signing secret, which is shown this once. */
export const WebhookWithSecret = t.Object(
  { ...FIELDS, secret: field.text("Signing secret. It is shown only in this answer.") },
  { title: "WebhookWithSecret" },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

export const DeliveryResponse = t.Object(
  {
    id: field.id("Id of the delivery."),
    event: field.text("Name of the event."),
    message_id: field.text("Id of the message, equal in all attempts."),
    sequence: field.integer("Number of the message among those of the webhook."),
    state: textOf<DeliveryState>({
      description:
        "`pending` until the first attempt, `delivered`, `failed` until the next attempt or, without one, until the URL or a setting of the instance changes, `dead` when no attempt is left.",
    }),
    attempt: field.integer("Number of attempts so far."),
    status: orNull(t.Integer(), { description: "HTTP status of the last attempt. null without a response." }),
    code: orNull(t.String(), { description: "Cause of the last failure, such as `timeout`, `redirected` or `blocked_address`." }),
    detail: orNull(t.String(), { description: "Last response of the receiver, or a sentence about the failure. null after a success." }),
    ms: orNull(t.Integer(), { description: "Duration of the last attempt in milliseconds." }),
    next_at: orNull(field.instant("Time of the next attempt."), { description: "Time of the next attempt. null if there is none." }),
    created_at: CREATED_AT,
  },
  { title: "WebhookDelivery" },
)
export type DeliveryResponse = Static<typeof DeliveryResponse>

/** A delivery with the message as it is sent. */
export const DeliveryWithBody = t.Object(
  {
    ...DeliveryResponse.properties,
    body: orNull(t.String(), { description: "Message as JSON text. null if the event is no longer stored." }),
  },
  { title: "WebhookDeliveryWithBody" },
)
export type DeliveryWithBody = Static<typeof DeliveryWithBody>

export const webhookResponse = (webhook: Webhook, secret: ShownSecret): WebhookResponse => ({
  id: webhook.id,
  scope: scopeOf(webhook),
  url: webhook.url_label,
  description: webhook.description,
  events: [...webhook.events],
  enabled: webhook.enabled,
  disabled_reason: webhook.disabled_reason,
  failing_since: instantOrNull(webhook.failing_since),
  secret,
  created_by: webhook.created_by,
  version: webhook.version,
  created_at: instantText(webhook.created_at),
  updated_at: instantText(webhook.updated_at),
})

export const deliveryResponse = (delivery: Delivery): DeliveryResponse => ({
  id: delivery.id,
  event: delivery.event,
  message_id: delivery.message_id,
  sequence: delivery.sequence,
  state: delivery.state,
  attempt: delivery.attempt,
  status: delivery.status,
  code: delivery.code,
  detail: delivery.response_excerpt,
  ms: delivery.ms,
  next_at: instantOrNull(delivery.next_at),
  created_at: instantText(delivery.created_at),
})
