import { createPrivateKey, type KeyObject, sign } from "node:crypto"
import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { ConnectionFailure } from "./failure.ts"

/**
 * The fields of a service account's JSON key that are used. `token_uri` is not: the assertion goes to the configured token URL only,
 * wherever the key wants it to be sent.
 */
const ServiceAccountKey = t.Object({
  type: t.Literal("service_account"),
  client_email: t.String({ minLength: 3, maxLength: 320, pattern: "^[\\x21-\\x7e]+@[\\x21-\\x7e]+$" }),
  private_key_id: t.String({ minLength: 1, maxLength: 200, pattern: "^[\\x21-\\x7e]+$" }),
  private_key: t.String({ minLength: 1, maxLength: 20_000 }),
})
export type ServiceAccountKey = Static<typeof ServiceAccountKey>

const MIN_KEY_BITS = 2_048

/** Reads the JSON key of a service account. Throws a `ConnectionFailure` for a malformed one. */
export function readServiceAccount(value: unknown): ServiceAccountKey {
  if (!Value.Check(ServiceAccountKey, value) || !privateKeyOf(value)) throw new ConnectionFailure("invalid_service_account")
  const { type, client_email, private_key_id, private_key } = value
  return { type, client_email, private_key_id, private_key }
}

/** Returns the RSA key, or undefined if it is not one that the provider accepts. */
function privateKeyOf({ private_key }: ServiceAccountKey): KeyObject | undefined {
  try {
    const key = createPrivateKey(private_key)
    const isUsable = key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_KEY_BITS
    return isUsable ? key : undefined
  } catch {
    return undefined // no key at all, or an encrypted one
  }
}

const LIFE_SECONDS = 3_600

/** Returns the signed assertion for which the token URL issues an access token (RFC 7523, RS256). */
export function assertionOf(
  account: ServiceAccountKey,
  { scope, tokenUrl, now }: { scope: string; tokenUrl: string; now: number },
): string {
  const issuedAt = Math.floor(now / 1_000)
  const header = { alg: "RS256", typ: "JWT", kid: account.private_key_id }
  const claims = { iss: account.client_email, scope, aud: tokenUrl, iat: issuedAt, exp: issuedAt + LIFE_SECONDS }
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  const key = privateKeyOf(account)
  if (!key) throw new ConnectionFailure("invalid_service_account")
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`
}
