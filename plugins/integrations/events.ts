import { type TObject, Type as t } from "@sinclair/typebox"
import { field, type ProductEventForm, type PublishedEvent } from "#plugin"
import { ALERT_EVENTS } from "./alerts/events.ts"
import { REPORT_EVENTS } from "./reports/events.ts"

/** The product events of this area. */
export const EVENTS = {
  ...REPORT_EVENTS,
  ...ALERT_EVENTS,
  "webhook.disabled": {
    title: "Webhook disabled",
    payload: t.Object(
      {
        webhook_id: field.id("Id of the webhook."),
        url: field.text("Host and last characters of its URL."),
        reason: field.text("Why: `failing` after five days without a success, `gone` if the receiver answered 410."),
      },
      { additionalProperties: false },
    ),
  },
} as const satisfies Record<string, ProductEventForm>

/** The test event, which a webhook receives on request and no one else. */
export const PING = { name: "ping", form: { title: "Test event", payload: t.Object({}, { additionalProperties: false }) } } as const

/** Events that `*` does not include, because there can be one per minute and goal. They can be named once a plugin publishes them. */
export const ONLY_BY_NAME: readonly string[] = ["goal.completed"]

/** Version of the messages. Within a version, `data` only gains fields. */
export const MESSAGE_VERSION = 1

/** Returns the JSON Schema of the message that a webhook receives for an event. */
export const messageSchema = (type: string, { title, payload }: ProductEventForm): TObject =>
  t.Object(
    {
      type: t.Literal(type, { description: "Name of the event." }),
      timestamp: field.instant("Time of the event."),
      id: field.text("Id of the message, equal in all attempts and to the header `webhook-id`."),
      version: t.Literal(MESSAGE_VERSION, { description: "Version of the message." }),
      sequence: field.integer("Number of the message among those of the webhook. Messages can arrive in another order."),
      organization_id: field.id("Id of the organization."),
      site_id: t.Union([t.Integer(), t.Null()], { description: "Id of the site. null for events of the organization." }),
      data: t.Union(
        [
          // A receiver must accept fields that later versions add.
          { ...payload, additionalProperties: true },
          t.Object({ truncated: t.Literal(true, { description: "Present if the payload was too large: only its ids are left." }) }),
        ],
        { description: "Payload of the event." },
      ),
    },
    { title: `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Message`, description: title },
  )

/** Returns the events that a receiver wants. Looks up the receivers of a site once, however many events it has. */
export async function wantedEvents<Receiver>(
  events: readonly PublishedEvent[],
  receiversOf: (place: Pick<PublishedEvent, "organization_id" | "site_id">) => Promise<readonly Receiver[]>,
  wants: (receiver: Receiver, event: string) => boolean,
): Promise<PublishedEvent[]> {
  const wanted: PublishedEvent[] = []
  for (const ofSite of Map.groupBy(events, ({ organization_id, site_id }) => `${organization_id} ${site_id}`).values()) {
    const receivers = await receiversOf(ofSite[0]!) // a group has an event
    wanted.push(...ofSite.filter(({ event }) => receivers.some((receiver) => wants(receiver, event))))
  }
  return wanted.sort((a, b) => a.id - b.id)
}
