import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto"

/** The row and purpose that a sealed (encrypted) value is bound to. It cannot be opened for another place. */
export interface SecretPlace {
  table: string
  row: number | string
  purpose: string
}

/** Source of random bytes. Passed as an argument, so that tests can use fixed bytes. */
export type Random = (bytes: number) => Uint8Array

/** Encryption of values that must not be readable in the stores and backups. */
export interface Secrets {
  seal(plain: Uint8Array, place: SecretPlace): Uint8Array
  /** Decrypts a value. Returns undefined if it was sealed with an unknown key or for another place, or was modified. */
  open(sealed: Uint8Array, place: SecretPlace): Uint8Array | undefined
}

/** Secrets whose key can be replaced while the instance runs. */
export interface RotatableSecrets extends Secrets {
  /** Makes a key the current one. The previous keys still open what they sealed. */
  adopt(secretKey: Uint8Array): void
  /** Whether a value is sealed with the current key. */
  isCurrent(sealed: Uint8Array): boolean
}

/** Layout of a sealed value: format (1 byte), key id (4), nonce (12), tag (16), ciphertext. */
const FORMAT = 1
const KEY_ID_END = 5
const NONCE_END = 17
const TAG_END = 33

/** Creates AES-256-GCM encryption with a key derived from the instance's secret key. `former` keys still open what they sealed. */
export function createSecrets({
  secretKey,
  former = [],
  random,
}: {
  secretKey: Uint8Array
  former?: readonly Uint8Array[]
  random: Random
}): RotatableSecrets {
  const keys = [secretKey, ...former].map(derive)
  let current = keys[0]!
  return {
    adopt(key) {
      current = derive(key)
      keys.unshift(current)
    },
    isCurrent: (sealed) => current.id.equals(sealed.subarray(1, KEY_ID_END)),
    seal(plain, place) {
      const nonce = random(NONCE_END - KEY_ID_END)
      const cipher = createCipheriv("aes-256-gcm", current.key, nonce).setAAD(namedPlace(place))
      const text = Buffer.concat([cipher.update(plain), cipher.final()])
      return new Uint8Array(Buffer.concat([Uint8Array.of(FORMAT), current.id, nonce, cipher.getAuthTag(), text]))
    },
    open(sealed, place) {
      const id = sealed.subarray(1, KEY_ID_END)
      const known = keys.find((candidate) => candidate.id.equals(id))
      if (!known || sealed[0] !== FORMAT || sealed.length < TAG_END) return undefined
      const decipher = createDecipheriv("aes-256-gcm", known.key, sealed.subarray(KEY_ID_END, NONCE_END))
      decipher.setAAD(namedPlace(place)).setAuthTag(sealed.subarray(NONCE_END, TAG_END))
      return finished(decipher, sealed.subarray(TAG_END))
    },
  }
}

/** Returns a short name of a key that does not reveal the key. */
export const keyName = (secretKey: Uint8Array): string => derive(secretKey).id.toString("hex")

function derive(secretKey: Uint8Array): { key: Uint8Array; id: Buffer } {
  const key = new Uint8Array(hkdfSync("sha256", secretKey, new Uint8Array(), "footfall/secrets", 32))
  return { key, id: createHash("sha256").update(key).digest().subarray(0, 4) }
}

const namedPlace = ({ table, row, purpose }: SecretPlace): Buffer => Buffer.from(JSON.stringify([table, row, purpose]))

function finished(decipher: ReturnType<typeof createDecipheriv>, text: Uint8Array): Uint8Array | undefined {
  try {
    return new Uint8Array(Buffer.concat([decipher.update(text), decipher.final()]))
  } catch {
    return undefined // the tag does not match: another place, or modified
  }
}
