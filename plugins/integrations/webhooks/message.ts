import { createHmac } from "node:crypto"
import { instantText, isObject, type PublishedEvent } from "#plugin"
import { MESSAGE_VERSION } from "../events.ts"
import { type Delivery, LIMITS } from "./webhook.ts"

/** What a message tells: a stored product event, or the test event. */
export type MessageEvent = Pick<PublishedEvent, "event" | "organization_id" | "site_id" | "payload" | "at">

/** Returns the body of a message. A payload that makes it too large is reduced to its ids. */
export function messageBody(
  { message_id, sequence }: Pick<Delivery, "message_id" | "sequence">,
  { event, organization_id, site_id, payload, at }: MessageEvent,
): string {
  const bodyWith = (data: unknown): string =>
    JSON.stringify({
      type: event,
      timestamp: instantText(at),
      id: message_id,
      version: MESSAGE_VERSION,
      sequence,
      organization_id,
      site_id,
      data,
    })
  const body = bodyWith(payload)
  return Buffer.byteLength(body) <= LIMITS.bodyBytes ? body : bodyWith({ ...idsOf(payload), truncated: true })
}

const idsOf = (payload: unknown): object =>
  Object.fromEntries(
    Object.entries(isObject(payload) ? payload : {}).filter(([name, value]) => /(^|_)id$/.test(name) && typeof value === "number"),
  )

const PREFIX = "whsec_"
const SECRET_BYTES = 32

/** Returns a new signing secret, as receivers enter it. */
export const newSecret = (random: (bytes: number) => Uint8Array): string => PREFIX + Buffer.from(random(SECRET_BYTES)).toString("base64")

export const newMessageId = (random: (bytes: number) => Uint8Array): string => `msg_${Buffer.from(random(16)).toString("hex")}`

/** Returns the headers of the Standard Webhooks specification: one signature per secret, over id, time and body. */
export function signedHeaders(body: string, { id, at, secrets }: { id: string; at: number; secrets: readonly string[] }) {
  const seconds = Math.floor(at / 1_000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64")
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`
  })
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  }
}
