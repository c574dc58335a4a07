import type { Access } from "../../services/access/access.ts"
import type { Sessions } from "../../services/sign-in/sessions.ts"

/** Ends long responses when the session ends or loses access to the site. */
export interface SessionWatch {
  /**
   * Returns a signal that aborts within about a second after the session or its access ends, and when the client disconnects. The
   * caller must call `end` when the response is complete.
   */
  whileSignedIn(request: Request, session: { id: number }, siteId: number): { signal: AbortSignal; end(): void }
}

export interface SessionWatchOptions {
  sessions: Pick<Sessions, "findById">
  access: Pick<Access, "onSite">
}

const CHECK_INTERVAL_MS = 1_000

/** Creates the watch. It looks up the session and its access once per second and response. */
export function createSessionWatch({ sessions, access }: SessionWatchOptions): SessionWatch {
  return {
    whileSignedIn(request, { id }, siteId) {
      const ended = new AbortController()
      const check = async () => {
        const person = await sessions.findById(id)
        if (person) await access.onSite(person, String(siteId))
        else ended.abort()
      }
      // If the check fails, access cannot be confirmed.
      const timer = setInterval(() => void check().catch(() => ended.abort()), CHECK_INTERVAL_MS)
      const signal = AbortSignal.any([request.signal, ended.signal])
      const end = () => clearInterval(timer)
      signal.addEventListener("abort", end, { once: true })
      return { signal, end }
    },
  }
}
