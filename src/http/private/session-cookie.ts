import { cookie } from "@elysiajs/cookie"
import type { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { isLoopback } from "./origins.ts"

/** The plugin puts these into the context at run time; its types say otherwise once it is scoped. */
type Writer = { setCookie(name: string, value: string, options: { signed?: boolean; maxAge: number }): void }
type Unsign = (signed: string) => { valid: true; value: string } | { valid: false }

export interface CookieOptions {
  /** Keys that sign; all verify, the first one signs. The list may change. */
  secrets: readonly [string, ...string[]]
  /** Whether the dashboard is reached by https. */
  secure: boolean
  /** Whether people on other machines may sign in without it. */
  allowInsecure: boolean
}

/** Longer than anybody may act as somebody else; the row of the session decides whether it is good. */
const WAITING_SECONDS = 2 * 3_600

export type SessionCookie = ReturnType<typeof sessionCookie>

/** The one place that knows the library. A cookie that is forged or of another key reads as none. */
export function sessionCookie({ secrets, secure, allowInsecure }: CookieOptions) {
  // Browsers take the __Host- prefix on https only.
  const name = secure ? "__Host-sid" : "sid"
  const ticketName = secure ? "__Host-oidc" : "oidc"
  /** Holds the session of an instance admin while the other one is that of a user. */
  const waiting = secure ? "__Host-own-sid" : "own-sid"
  // Spread, because the option type of the library does not follow cookie 1.x.
  const attributes = { httpOnly: true, secure, sameSite: "lax", path: "/" } as const
  const plugin = (secret: string) => cookie({ secret, ...attributes })
  // `unsignCookie` looks at one secret, so there is one per secret. It exists at run time although its type is missing.
  const unsigners = new Map<string, Unsign>()
  function unsignerOf(secret: string): Unsign {
    const known = unsigners.get(secret) ?? (plugin(secret) as unknown as { decorator: { unsignCookie: Unsign } }).decorator.unsignCookie
    unsigners.set(secret, known)
    return known
  }

  function readNamed(request: Request, wanted: string): string | undefined {
    const sent = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(wanted)
    // `unsignCookie(undefined)` throws.
    if (!sent) return undefined
    // Looked up each time: the keys change while the instance runs.
    for (const secret of secrets) {
      const result = unsignerOf(secret)(sent)
      if (result.valid) return result.value
    }
    return undefined
  }
  /** As the library signs, with the key of the moment: the library itself would go on with that of the start. */
  const signed = (token: string): string =>
    `${token}.${new Bun.CryptoHasher("sha256", secrets[0]).update(token).digest("base64").replace(/=+$/, "")}`
  const lineOf = (wanted: string, token: string, maxAge: number): string =>
    new Bun.Cookie(wanted, signed(token), { ...attributes, maxAge }).serialize()
  const endOf = (wanted: string): string => new Bun.Cookie(wanted, "", { ...attributes, maxAge: 0 }).serialize()
  /** Whoever signs in or out is done with acting as somebody else. False, and nothing is written, where nobody did. */
  function endsWaiting(context: unknown, line: string): boolean {
    const { request, set } = context as { request: Request; set: { headers: Record<string, unknown> } }
    if (!new Bun.CookieMap(request.headers.get("cookie") ?? "").has(waiting)) return false
    // The library's own list would go out as one line.
    set.headers["set-cookie"] = [endOf(waiting), line]
    return true
  }

  return {
    name,

    /** Only the routes that sign in and out use this: in its scope the library replaces Elysia's own `cookie`. */
    writer: () => plugin(secrets[0]).as("scoped") as unknown as Elysia,

    /** The session's token. */
    read: (request: Request): string | undefined => readNamed(request, name),

    /** Acting as a user and back, as lines of an answer's head; ages in seconds. */
    impersonation: {
      begin: (request: Request, { renewedToken }: { renewedToken?: string }, as: { token: string; seconds: number }): string[] => {
        const own = renewedToken ?? readNamed(request, name)
        return [lineOf(name, as.token, as.seconds), ...(own === undefined ? [] : [lineOf(waiting, own, WAITING_SECONDS)])]
      },
      waiting: (request: Request): string | undefined => readNamed(request, waiting),
      end: (own: { token: string; seconds: number } | undefined): string[] => [
        own ? lineOf(name, own.token, own.seconds) : endOf(name),
        endOf(waiting),
      ],
    },

    /** Throws `insecure_connection` where a cookie could be read on its way: over plain HTTP from another machine. */
    refuseInsecure({ url }: Request): void {
      if (secure || allowInsecure || isLoopback(new URL(url).hostname)) return
      throw new AppError("insecure_connection", "Sign in over HTTPS. Over plain HTTP, others could read your data.")
    },

    /** The same for an answer outside that scope, as a line of its head; signed as the library signs. */
    line: (token: string, maxAge: number): string => lineOf(name, token, maxAge),

    /** What ties the answer of an identity provider to the browser that asked. It needs no signature: it is looked up. */
    ticketLine: (ticket: string, maxAge: number): string => new Bun.Cookie(ticketName, ticket, { ...attributes, maxAge }).serialize(),
    ticketEnd: (): string => endOf(ticketName),
    readTicket: (request: Request): string | undefined =>
      new Bun.CookieMap(request.headers.get("cookie") ?? "").get(ticketName) ?? undefined,

    /** `maxAge` in seconds. */
    set(context: unknown, token: string, maxAge: number): void {
      dropEarlier(context)
      if (endsWaiting(context, lineOf(name, token, maxAge))) return
      ;(context as Writer).setCookie(name, signed(token), { maxAge })
    },
    /** Not `removeCookie`: that one forgets Path and Secure, and the browser keeps the cookie. */
    clear(context: unknown): void {
      dropEarlier(context)
      if (endsWaiting(context, endOf(name))) return
      ;(context as Writer).setCookie(name, "", { maxAge: 0 })
    },
  }
}

/** A token that was renewed on the way in: what comes now takes its place. */
function dropEarlier(context: unknown): void {
  delete (context as { set: { headers: Record<string, unknown> } }).set.headers["set-cookie"]
}
