import { COLLECT } from "../domain/limits.ts"
import type { Hash64 } from "../store/events/writer.ts"

const encoder = new TextEncoder()
/** Site id, address and user agent of one event; wiped after each, so that no address outlives its request. */
const scratch = new Uint8Array(2_600)

/**
 * The rotating id by each of the salts: keyed hash over site, address (IPv6: its /64) and user agent. The host is no part
 * of it.
 */
export function rotatingIds(
  salts: readonly Uint8Array[],
  { siteId, address, userAgent }: { siteId: number; address: Uint8Array | undefined; userAgent: string },
): Hash64[] {
  let end = encoder.encodeInto(`${siteId}\0`, scratch).written
  if (address) {
    const network = address.length === 16 ? address.subarray(0, 8) : address
    scratch.set(network, end)
    end += network.length
  }
  scratch[end++] = 0
  end += Math.min(COLLECT.userAgentChars, encoder.encodeInto(userAgent, scratch.subarray(end)).written)
  const message = scratch.subarray(0, end)
  const ids = salts.map((salt) => keyedHash(salt, message))
  message.fill(0)
  return ids
}

/** The person key of a user id or of a stored random id. It outlives salts; the identity key alone can make it again. */
export const personKey = (identityKey: Uint8Array, kind: "user" | "device", id: string): Hash64 =>
  keyedHash(identityKey, encoder.encode(`${kind}:${id}`))

function keyedHash(key: Uint8Array, message: Uint8Array): Hash64 {
  const hash = new Bun.CryptoHasher("sha256", key).update(message).digest()
  return { high: hash.readUInt32BE(0), low: hash.readUInt32BE(4) }
}
