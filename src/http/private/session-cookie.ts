import { cookie } from "@elysiajs/cookie"
import type { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { isLoopback } from "./origins.ts"

/** The plugin puts these into the context at run time; its types say otherwise once it is scoped. */
type Writer = { setCookie(name: string, value: string, options: { signed?: boolean; maxAge: number }): void }
type Unsign = (signed: string) => { valid: true; value: string } | { valid: false }

export interface CookieOptions {
  /** Keys that sign; all verify, the first one signs. */
  secrets: readonly [string, ...string[]]
  /** Whether the dashboard is reached by https. */
  secure: boolean
  /** Whether people on other machines may sign in without it. */
  allowInsecure: boolean
}

export type SessionCookie = ReturnType<typeof sessionCookie>

/** The one place that knows the library. A cookie that is forged or of another key reads as none. */
export function sessionCookie({ secrets, secure, allowInsecure }: CookieOptions) {
  // Browsers take the __Host- prefix on https only.
  const name = secure ? "__Host-sid" : "sid"
  // Spread, because the option type of the library does not follow cookie 1.x.
  const attributes = { httpOnly: true, secure, sameSite: "lax", path: "/" } as const
  const plugin = (secret: string) => cookie({ secret, ...attributes })
  // `unsignCookie` looks at one secret, so there is one per secret. It exists at run time although its type is missing.
  const unsigners = secrets.map((secret) => (plugin(secret) as unknown as { decorator: { unsignCookie: Unsign } }).decorator.unsignCookie)

  return {
    /** Only the routes that sign in and out use this: in its scope the library replaces Elysia's own `cookie`. */
    writer: () => plugin(secrets[0]).as("scoped") as unknown as Elysia,

    /** The session's token. */
    read(request: Request): string | undefined {
      const signed = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name)
      // `unsignCookie(undefined)` throws.
      if (!signed) return undefined
      for (const unsign of unsigners) {
        const result = unsign(signed)
        if (result.valid) return result.value
      }
      return undefined
    },

    /** Throws `insecure_connection` where a cookie could be read on its way: over plain HTTP from another machine. */
    refuseInsecure({ url }: Request): void {
      if (secure || allowInsecure || isLoopback(new URL(url).hostname)) return
      throw new AppError("insecure_connection", "Sign in over https: over plain HTTP others could read along.")
    },

    /** The same for an answer outside that scope, as a line of its head; signed as the library signs. */
    line(token: string, maxAge: number): string {
      const signature = new Bun.CryptoHasher("sha256", secrets[0]).update(token).digest("base64").replace(/=+$/, "")
      return new Bun.Cookie(name, `${token}.${signature}`, { ...attributes, maxAge }).serialize()
    },

    /** `maxAge` in seconds. */
    set: (context: unknown, token: string, maxAge: number) => (context as Writer).setCookie(name, token, { signed: true, maxAge }),
    /** Not `removeCookie`: that one forgets Path and Secure, and the browser keeps the cookie. */
    clear: (context: unknown) => (context as Writer).setCookie(name, "", { maxAge: 0 }),
  }
}
