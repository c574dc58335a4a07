import { COLLECT } from "../../domain/limits.ts"
import type { Hash64 } from "../../store/events/writer.ts"
import { addCounter, type Draft } from "../draft.ts"
import { type Identity, type Person, personKind, type VisitorKeys } from "./identity.ts"

/** Computes the ids of the visitor from address and user agent, and then removes the address from the draft. */
export function setVisitor(draft: Draft): void {
  const { site, address, request, keys, incoming } = draft
  const person = personOf(draft)
  draft.identity = identityOf(keys, { siteId: site.id, address: address?.bytes, userAgent: request.userAgent }, person)
  draft.address = undefined
  if (incoming.userId !== "" && person?.kind !== "user") addCounter(draft, "identify_ignored")
}

const DAY_MS = 86_400_000

function personOf({ site, incoming, request, keys }: Draft): Person | undefined {
  const kind = personKind(site, incoming, request.objects)
  if (!kind || !keys.identity) return undefined
  const { identity_mode, consent_default, store_user_ids, persistent_days } = site.settings
  const asksFirst = identity_mode === "persistent" && consent_default === "denied"
  const needsConsent = kind === "user" && asksFirst && incoming.deviceId === ""
  if (kind === "device")
    return { key: personKey(keys.identity, kind, incoming.deviceId), kind, userId: "", lifeMs: persistent_days * DAY_MS, needsConsent }
  const { userId } = incoming
  const stored = store_user_ids ? userId : ""
  return { key: personKey(keys.identity, kind, userId), kind, userId: stored, lifeMs: Number.POSITIVE_INFINITY, needsConsent }
}

/** Sizes of a SHA-256 block and digest, in bytes. */
const BLOCK = 64
const DIGEST = 32
/** Input of the inner hash: a block for the key, then the message. Wiped after each event, so that no address outlives its request. */
const inner = Buffer.alloc(BLOCK + 2_600)
/** Input of the outer hash: a block for the key, then the digest of `inner`. */
const outer = Buffer.alloc(BLOCK + DIGEST)
const innerDigest = outer.subarray(BLOCK)
const digest = Buffer.alloc(DIGEST)

/**
 * Returns an identity with the rotating id by each of the salts: a keyed hash of site, address (for IPv6 its /64) and user agent. The host is
 * not hashed, so that a visitor has one id on all hosts of a site.
 */
export function identityOf(
  { current, previous }: Pick<VisitorKeys, "current" | "previous">,
  { siteId, address, userAgent }: { siteId: number; address: Uint8Array | undefined; userAgent: string },
  person?: Person,
): Identity {
  let end = BLOCK + inner.write(`${siteId}\0`, BLOCK)
  const networkBytes = address?.length === 16 ? 8 : (address?.length ?? 0)
  for (let at = 0; at < networkBytes; at++) inner[end++] = address![at]!
  inner[end++] = 0
  end += Math.min(COLLECT.userAgentChars, inner.write(userAgent, end))
  const message = inner.subarray(0, end)
  const identity = {
    current: { period: current.period, id: keyedHash(current.salt, message) },
    previous: previous && { period: previous.period, id: keyedHash(previous.salt, message) },
    person,
  }
  message.fill(0)
  return identity
}

/** Returns the person key of a user id or device id. It does not depend on salts, and cannot be computed without the identity key. */
export function personKey(identityKey: Uint8Array, kind: "user" | "device", id: string): Hash64 {
  const message = inner.subarray(0, BLOCK + inner.write(`${kind}:${id}`, BLOCK))
  const hash = keyedHash(identityKey, message)
  message.fill(0)
  return hash
}

/**
 * Returns the first 64 bits of HMAC-SHA-256 (RFC 2104) with a key of at most 64 bytes. The message begins after the first block of
 * `message`, which is overwritten. Two plain hashes into existing buffers allocate nothing; the platform's keyed hasher would leave
 * three objects per event to the garbage collector.
 */
function keyedHash(key: Uint8Array, message: Uint8Array): Hash64 {
  message.fill(0x36, 0, BLOCK)
  outer.fill(0x5c, 0, BLOCK)
  for (let at = 0; at < key.length; at++) {
    message[at]! ^= key[at]!
    outer[at]! ^= key[at]!
  }
  Bun.SHA256.hash(message, innerDigest)
  Bun.SHA256.hash(outer, digest)
  return { high: digest.readUInt32BE(0), low: digest.readUInt32BE(4) }
}
