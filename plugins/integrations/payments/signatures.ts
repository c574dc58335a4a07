/** Signatures of payment providers over the raw bytes of a body. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { type HookKind, LIMITS } from "./hook.ts"

/** A request as it arrived: its headers and the bytes of its body. */
export interface SignedRequest {
  headers: Headers
  body: Uint8Array
}

/** What a request claims: the signatures, each of which may be the valid one, and the bytes that they sign. */
interface Claimed {
  signatures: readonly Buffer[]
  /** Bytes that are signed before the body. */
  prefix: string
  /** Signed time in seconds. Undefined if the provider signs none. */
  seconds?: number
}

/** Number of signatures that are compared. Providers send one, or one per secret during a rotation. */
const MAX_SIGNATURES = 8
const MAX_HEADER_CHARS = 2_000
const PREFIX = "whsec_"
/** Lengths of keys that the Standard Webhooks specification allows, in bytes. */
const KEY_BYTES = { min: 24, max: 64 }

/**
 * Returns whether a body was signed with one of the secrets, and recently where the provider signs the time. Every signature is compared
 * with every secret in constant time, so the duration says nothing about which of them failed.
 */
export function isSigned(kind: HookKind, request: SignedRequest, secrets: readonly string[], now: number): boolean {
  const { signatures, prefix, seconds } = claimedBy(kind, request.headers) ?? { signatures: [], prefix: "" }
  let matches = 0
  for (const secret of secrets) {
    const expected = createHmac("sha256", keyOf(kind, secret)).update(prefix).update(request.body).digest()
    // A missing signature costs one comparison as well.
    for (const sent of signatures.length > 0 ? signatures : [Buffer.alloc(0)]) matches |= isEqual(expected, sent) ? 1 : 0
  }
  const isRecent = seconds === undefined || Math.abs(now - seconds * 1_000) <= LIMITS.toleranceMs
  return matches === 1 && isRecent
}

/** Returns the signed id of a message of the Standard Webhooks specification. */
export const messageId = ({ headers }: SignedRequest): string => headers.get("webhook-id") ?? ""

/** Returns whether a text can be the signing secret of a kind: any text, but base64 for the Standard Webhooks specification. */
export function isUsableSecret(kind: HookKind, secret: string): boolean {
  if (kind !== "payments-generic") return true
  const text = withoutPrefix(secret)
  const { length } = Buffer.from(text, "base64")
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && length >= KEY_BYTES.min && length <= KEY_BYTES.max
}

const withoutPrefix = (secret: string): string => (secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)

const keyOf = (kind: HookKind, secret: string): Buffer =>
  kind === "payments-generic" ? Buffer.from(withoutPrefix(secret), "base64") : Buffer.from(secret, "utf8")

function isEqual(expected: Buffer, sent: Buffer): boolean {
  const hasLength = sent.length === expected.length
  return timingSafeEqual(expected, hasLength ? sent : Buffer.alloc(expected.length)) && hasLength
}

function claimedBy(kind: HookKind, headers: Headers): Claimed | undefined {
  if (kind === "stripe") return inFields(headers.get("stripe-signature"), { separator: ",", time: "t", signature: "v1", joint: "." })
  if (kind === "paddle") return inFields(headers.get("paddle-signature"), { separator: ";", time: "ts", signature: "h1", joint: ":" })
  if (kind === "lemonsqueezy") return overBody(headers.get("x-signature"), hex)
  if (kind === "woocommerce") return overBody(headers.get("x-wc-webhook-signature"), base64)
  if (kind === "shopify") return overBody(headers.get("x-shopify-hmac-sha256"), base64)
  return standard(headers)
}

const overBody = (header: string | null, decode: (text: string) => Buffer): Claimed | undefined =>
  isReadable(header) ? { signatures: [decode(header.trim())], prefix: "" } : undefined

/** Reads a header such as `t=1732623600,v1=5257…,v1=9c1f…`. Fields with other names are versions that are not used. */
function inFields(
  header: string | null,
  { separator, time, signature, joint }: { separator: string; time: string; signature: string; joint: string },
): Claimed | undefined {
  if (!isReadable(header)) return undefined
  const fields = header.split(separator).map((field) => field.trim().split("="))
  const valuesOf = (wanted: string) => fields.flatMap(([name, value]) => (name === wanted && value !== undefined ? [value] : []))
  const [signedAt] = valuesOf(time)
  const seconds = secondsIn(signedAt)
  if (seconds === undefined) return undefined
  return { signatures: valuesOf(signature).slice(0, MAX_SIGNATURES).map(hex), prefix: `${signedAt}${joint}`, seconds }
}

/** Reads the headers of the Standard Webhooks specification: `webhook-signature: v1,K5oZ… v1,g0hM…`. */
function standard(headers: Headers): Claimed | undefined {
  const [id, time, header] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headers.get(name))
  const seconds = secondsIn(time ?? undefined)
  if (!isReadable(id) || seconds === undefined || !isReadable(header)) return undefined
  const signatures = header.split(" ").flatMap((each) => (each.startsWith("v1,") ? [base64(each.slice(3))] : []))
  return { signatures: signatures.slice(0, MAX_SIGNATURES), prefix: `${id}.${time}.`, seconds }
}

const isReadable = (header: string | null | undefined): header is string => !!header && header.length <= MAX_HEADER_CHARS

const secondsIn = (text: string | undefined): number | undefined => (text && /^\d{1,12}$/.test(text) ? Number(text) : undefined)

const hex = (text: string): Buffer => (/^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.alloc(0))
const base64 = (text: string): Buffer => Buffer.from(text, "base64")
