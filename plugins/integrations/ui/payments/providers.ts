import type { HookResponse } from "../../payments/responses.ts"
import type { Tone } from "../answers.ts"

export type Kind = HookResponse["kind"]

/** What a user does at a payment provider. */
interface Provider {
  label: string
  /** Where to enter the URL. */
  place: string
  /** Names of the events to select there. Empty if the provider has no names for them. */
  events: readonly string[]
  /** Where to find or choose the signing secret. */
  secret: string
  /** How an order is matched with the visit that led to it. */
  matching: string
}

const PAYMENTS = "Without them, payments are recorded but not attributed to visits."

export const PROVIDERS: Readonly<Record<Kind, Provider>> = {
  stripe: {
    label: "Stripe",
    place: "In Stripe, open Developers and Webhooks, and add an endpoint with this URL. Select these events:",
    events: [
      "payment_intent.succeeded",
      "charge.succeeded",
      "checkout.session.completed",
      "invoice.paid",
      "refund.created",
      "refund.updated",
      "charge.refunded",
      "charge.dispute.created",
      "charge.dispute.closed",
    ],
    secret: "Reveal the signing secret of the endpoint, and enter it below.",
    matching: `Set order_id and user_id in the metadata of the payment or checkout session. ${PAYMENTS}`,
  },
  paddle: {
    label: "Paddle",
    place: "In Paddle, open Developer tools and Notifications, and add a webhook destination with this URL. Select these events:",
    events: ["transaction.completed", "adjustment.created", "adjustment.updated"],
    secret: "Copy the secret key of the destination, and enter it below.",
    matching: `Set order_id and user_id in the custom data of the transaction. ${PAYMENTS}`,
  },
  lemonsqueezy: {
    label: "Lemon Squeezy",
    place: "In Lemon Squeezy, open Settings and Webhooks, and add a webhook with this URL. Select these events:",
    events: ["order_created", "order_refunded", "subscription_payment_success", "subscription_payment_refunded"],
    secret: "Choose a long random text as the signing secret, and enter it there and below.",
    matching: `Set order_id and user_id in the custom data of the checkout. ${PAYMENTS}`,
  },
  woocommerce: {
    label: "WooCommerce",
    place:
      "In WooCommerce, open Settings, Advanced and Webhooks, and add an active webhook with this delivery URL and the topic Order updated.",
    events: [],
    secret: "Choose a long random text as the secret of the webhook, and enter it there and below.",
    matching: `Store order_id and user_id in the metadata of the order. ${PAYMENTS}`,
  },
  shopify: {
    label: "Shopify",
    place:
      "In Shopify, open Settings, Notifications and Webhooks, and create two webhooks with this URL and the format JSON: one for Order payment and one for Refund create.",
    events: [],
    secret: "Copy the signing key that the page shows for your webhooks, and enter it below.",
    matching: `Store order_id and user_id in the note attributes of the order. ${PAYMENTS}`,
  },
  "payments-generic": {
    label: "Custom integration",
    place: "Send each payment from your program to this URL, signed as the Standard Webhooks specification describes. Send these types:",
    events: ["sale", "refund", "dispute", "adjustment"],
    secret: "Choose 24 to 64 random bytes as the key, and enter them below as base64.",
    matching: `Send order_id, and the user ID as customer_reference. ${PAYMENTS}`,
  },
}

export const KINDS = Object.keys(PROVIDERS) as Kind[] // they are the keys

/** Returns the state of a hook in words. */
export function stateOf({ enabled, secret, last_event }: HookResponse): readonly [tone: Tone, text: string] {
  if (!enabled) return ["quiet", "Turned off"]
  if (!secret.set) return ["warn", "Signing secret missing"]
  if (!last_event) return ["quiet", "Waiting for the first event"]
  return last_event.result === "failed" ? ["warn", "Last event not understood"] : ["good", "Receiving"]
}
