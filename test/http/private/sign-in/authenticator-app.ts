import { createHmac } from "node:crypto"
import type { TestInstance } from "../../../kit.ts"
import { setUp } from "../browser.ts"

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** Returns the bytes of a secret as people type it into an authenticator app. */
export function secretBytes(secret: string): Buffer {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("")
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}

/** Computes the code that an authenticator app shows at a moment. Implements RFC 6238 again, so that the server's library is not tested against itself. */
export function appCode(secret: string, at: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)))
  const hash = createHmac("sha1", secretBytes(secret)).update(counter).digest()
  const offset = hash[19]! & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}

/** Sets up the instance and adds an authenticator app for Ada, whose session is fresh. */
export async function withApp(instance: TestInstance) {
  const ada = await setUp(instance)
  const { body: start } = await ada.post("/me/totp/start")
  const code = appCode(start.secret, instance.clock.now())
  const { body: confirmed } = await ada.post("/me/totp/confirm", { ticket: start.ticket, code })
  // The code of the current period is already used.
  instance.clock.advance(60_000)
  return { ada, secret: start.secret as string, codes: confirmed.recovery_codes as string[] }
}
