import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../../domain/clock.ts"
import { THINGS } from "../../domain/limits.ts"

/** An object with a password: a share or a link. */
export interface Locked {
  id: number
  /** Incremented with each new password. */
  password_version: number
}

/** Cookies that prove that the password of an object was entered. They are valid for an hour, and only for that password. */
export interface UnlockCookies {
  /** Returns the `Set-Cookie` header for a viewer who entered the password. */
  header(thing: Locked): string
  isUnlocked(request: Request, thing: Locked): boolean
}

interface UnlockCookiesOptions {
  /** Kind of the objects, because ids are unique only within a kind. */
  kind: string
  /** Part of the name before the id that distinguishes the kinds, such as `d-`. */
  infix: string
  clock: Pick<Clock, "now">
  /** The first secret signs, and all of them verify. */
  cookieSecrets: readonly [string, ...string[]]
  /** Returns whether the instance is served over HTTPS. */
  isSecure(): boolean
}

export function createUnlockCookies({ kind, infix, clock, cookieSecrets, isSecure }: UnlockCookiesOptions): UnlockCookies {
  const nameOf = ({ id }: Locked): string => `${isSecure() ? "__Host-" : ""}unlock-${infix}${id}`
  const sign = (secret: string, thing: Locked, until: number): string =>
    new Bun.CryptoHasher("sha256", secret).update(`unlock ${kind} ${thing.id} ${thing.password_version} ${until}`).digest("base64url")

  return {
    header(thing) {
      const until = clock.now() + THINGS.shareUnlockMs
      return [
        `${nameOf(thing)}=${until}.${sign(cookieSecrets[0], thing, until)}`,
        "Path=/",
        `Max-Age=${THINGS.shareUnlockMs / 1_000}`,
        "HttpOnly",
        "SameSite=Lax",
        ...(isSecure() ? ["Secure"] : []),
      ].join("; ")
    },
    isUnlocked({ headers }, thing) {
      const token = new Bun.CookieMap(headers.get("cookie") ?? "").get(nameOf(thing)) ?? ""
      const [, end, signature = ""] = /^(\d{1,16})\.([\w-]{43})$/.exec(token) ?? []
      const until = Number(end)
      if (end === undefined || until <= clock.now()) return false
      return cookieSecrets.some((secret) => timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, thing, until))))
    },
  }
}
