/**
 * The format of an API key: `ff_`, 8 characters of public key id, `_`, 43 characters of secret (256 bits), and 6 characters of
 * CRC-32 over everything before. The checksum allows rejecting a mistyped key without reading the catalog.
 */
const TOKEN = /^ff_([0-9A-Za-z]{8})_[0-9A-Za-z]{49}$/
const ID_CHARACTERS = 8
const SECRET_CHARACTERS = 43
const CHECK_CHARACTERS = 6

export const KEY_PREFIX = "ff_"
/** The number of random bytes in a key: 16 for the public id, 32 for the secret. */
export const KEY_RANDOM_BYTES = 48

/** Creates a key from random bytes, with a new id, or with `idToKeep` when the secret of a key is replaced. */
export function composeKey(random: Uint8Array, idToKeep?: string): { keyId: string; token: string } {
  const keyId = idToKeep ?? base62(random.subarray(0, KEY_RANDOM_BYTES - 32), ID_CHARACTERS)
  const text = `${KEY_PREFIX}${keyId}_${base62(random.subarray(KEY_RANDOM_BYTES - 32), SECRET_CHARACTERS)}`
  return { keyId, token: text + checksum(text) }
}

/** Returns the public key id of a well-formed key with a valid checksum, or undefined. */
export function keyIdOf(token: string): string | undefined {
  const [, keyId] = TOKEN.exec(token) ?? []
  const text = token.slice(0, -CHECK_CHARACTERS)
  return keyId !== undefined && checksum(text) === token.slice(-CHECK_CHARACTERS) ? keyId : undefined
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Encodes bytes as a number in base 62 and returns its last `length` digits: 43 digits hold 32 bytes. */
function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${bytes.toHex()}`)
  let text = ""
  for (let i = 0; i < length; i++) {
    text = DIGITS[Number(rest % 62n)]! + text
    rest /= 62n
  }
  return text
}

function checksum(text: string): string {
  const check = new Uint8Array(4)
  new DataView(check.buffer).setUint32(0, crc32(text))
  return base62(check, CHECK_CHARACTERS)
}

/** Computes the CRC-32 of ASCII text, with the polynomial of zip files. */
function crc32(text: string): number {
  let crc = 0xffff_ffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0)
  }
  return ~crc >>> 0
}
