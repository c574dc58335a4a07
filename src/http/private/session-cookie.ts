import { cookie } from "@elysiajs/cookie"
import type { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { isLoopback } from "./origins.ts"

/** Members that the plugin adds to the context. Its types omit them once the plugin is scoped. */
type Writer = { setCookie(name: string, value: string, options: { signed?: boolean; maxAge: number }): void }
type Unsign = (signed: string) => { valid: true; value: string } | { valid: false }

export interface CookieOptions {
  /** Signing keys: the first one signs, all verify. The list can change at run time. */
  secrets: readonly [string, ...string[]]
  /** Whether the dashboard uses HTTPS. */
  secure: boolean
  /** Whether people on other machines can sign in without HTTPS. */
  allowInsecure: boolean
}

/** Lifetime of the cookie that keeps an admin's session, longer than any impersonation. The stored session decides whether it is valid. */
const OWN_SESSION_SECONDS = 2 * 3_600

export type SessionCookie = ReturnType<typeof sessionCookie>

/** Reads and writes the session cookies. Only this file uses the cookie library. Cookies with an invalid signature are ignored. */
export function sessionCookie({ secrets, secure, allowInsecure }: CookieOptions) {
  // Browsers accept the prefix __Host- only with HTTPS.
  const name = secure ? "__Host-sid" : "sid"
  const ticketName = secure ? "__Host-oidc" : "oidc"
  /** Cookie with the session of an instance admin while the session cookie contains an impersonated user's. */
  const ownName = secure ? "__Host-own-sid" : "own-sid"
  // Passed by spreading, because the option type of the library does not match cookie 1.x.
  const attributes = { httpOnly: true, secure, sameSite: "lax", path: "/" } as const
  const plugin = (secret: string) => cookie({ secret, ...attributes })
  // `unsignCookie` verifies with one secret, so one is created per secret. It exists at run time, although its type is missing.
  const unsigners = new Map<string, Unsign>()
  function unsignerOf(secret: string): Unsign {
    const known = unsigners.get(secret) ?? (plugin(secret) as unknown as { decorator: { unsignCookie: Unsign } }).decorator.unsignCookie
    unsigners.set(secret, known)
    return known
  }

  function readNamed(request: Request, cookieName: string): string | undefined {
    const value = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(cookieName)
    // `unsignCookie(undefined)` throws.
    if (!value) return undefined
    // Reads the list on each call, because the keys change while the instance runs.
    for (const secret of secrets) {
      const result = unsignerOf(secret)(value)
      if (result.valid) return result.value
    }
    return undefined
  }
  /** Signs like the library, but with the current key. The library would keep using the key of its creation. */
  const signed = (token: string): string =>
    `${token}.${new Bun.CryptoHasher("sha256", secrets[0]).update(token).digest("base64").replace(/=+$/, "")}`
  const headerFor = (cookieName: string, token: string, maxAge: number): string =>
    new Bun.Cookie(cookieName, signed(token), { ...attributes, maxAge }).serialize()
  const removalOf = (cookieName: string): string => new Bun.Cookie(cookieName, "", { ...attributes, maxAge: 0 }).serialize()
  /**
   * Ends an impersonation, because the user signs in or out: removes the cookie of the admin's session and sets the given cookie.
   * Returns false and sets nothing without an impersonation.
   */
  function endImpersonation(context: unknown, header: string): boolean {
    const { request, set } = context as { request: Request; set: { headers: Record<string, unknown> } }
    if (!new Bun.CookieMap(request.headers.get("cookie") ?? "").has(ownName)) return false
    // The library would send its list of cookies as one header.
    set.headers["set-cookie"] = [removalOf(ownName), header]
    return true
  }

  return {
    name,

    /** Plugin of the library, for routes that sign in and out. In its scope it replaces Elysia's own `cookie`. */
    writer: () => plugin(secrets[0]).as("scoped") as unknown as Elysia,

    /** Returns the token of the session, or undefined without a validly signed cookie. */
    read: (request: Request): string | undefined => readNamed(request, name),

    /** Values of `Set-Cookie` that begin and end an impersonation. */
    impersonation: {
      begin: (request: Request, { renewedToken }: { renewedToken?: string }, as: { token: string; seconds: number }): string[] => {
        const own = renewedToken ?? readNamed(request, name)
        return [headerFor(name, as.token, as.seconds), ...(own === undefined ? [] : [headerFor(ownName, own, OWN_SESSION_SECONDS)])]
      },
      /** Returns the token of the admin's own session during an impersonation. */
      waiting: (request: Request): string | undefined => readNamed(request, ownName),
      end: (own: { token: string; seconds: number } | undefined): string[] => [
        own ? headerFor(name, own.token, own.seconds) : removalOf(name),
        removalOf(ownName),
      ],
    },

    /** Throws `insecure_connection` if others could read the cookie in transit: over plain HTTP from another machine. */
    refuseInsecure({ url }: Request): void {
      if (secure || allowInsecure || isLoopback(new URL(url).hostname)) return
      throw new AppError("insecure_connection", "Sign in over HTTPS. Over plain HTTP, others could read your data.")
    },

    /** Returns the value of `Set-Cookie` for responses outside the scope of `writer`. `maxAge` is in seconds. */
    header: (token: string, maxAge: number): string => headerFor(name, token, maxAge),

    /** Binds the response of an identity provider to the browser that started the sign-in. Tickets are looked up and need no signature. */
    ticketHeader: (ticket: string, maxAge: number): string => new Bun.Cookie(ticketName, ticket, { ...attributes, maxAge }).serialize(),
    ticketRemoval: (): string => removalOf(ticketName),
    readTicket: (request: Request): string | undefined =>
      new Bun.CookieMap(request.headers.get("cookie") ?? "").get(ticketName) ?? undefined,

    /** Sets the session cookie of a response in the scope of `writer`. `maxAge` is in seconds. */
    set(context: unknown, token: string, maxAge: number): void {
      dropEarlier(context)
      if (endImpersonation(context, headerFor(name, token, maxAge))) return
      ;(context as Writer).setCookie(name, signed(token), { maxAge })
    },
    /** Removes the session cookie. `removeCookie` of the library omits Path and Secure, so browsers would keep the cookie. */
    clear(context: unknown): void {
      dropEarlier(context)
      if (endImpersonation(context, removalOf(name))) return
      ;(context as Writer).setCookie(name, "", { maxAge: 0 })
    },
  }
}

/** Removes the cookie of a token that was renewed by this request, which the new cookie replaces. */
function dropEarlier(context: unknown): void {
  delete (context as { set: { headers: Record<string, unknown> } }).set.headers["set-cookie"]
}
