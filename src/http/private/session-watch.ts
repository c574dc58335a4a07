import type { Access } from "../../services/access/access.ts"
import type { Sessions } from "../../services/sign-in/sessions.ts"

/** Ends long answers with the session that asked for them, or with its right to see the site. */
export interface SessionWatch {
  /** The signal is aborted within about a second of that, and when the client goes away. `end` must be called once the answer is over. */
  whileSignedIn(request: Request, session: { id: number }, siteId: number): { signal: AbortSignal; end(): void }
}

export interface SessionWatchOptions {
  sessions: Pick<Sessions, "findById">
  access: Pick<Access, "onSite">
}

const LOOK_MS = 1_000

export function createSessionWatch({ sessions, access }: SessionWatchOptions): SessionWatch {
  return {
    whileSignedIn(request, { id }, siteId) {
      const ended = new AbortController()
      const look = async () => {
        const person = await sessions.findById(id)
        if (person) await access.onSite(person, String(siteId))
        else ended.abort()
      }
      // What cannot be looked up is not to be seen.
      const timer = setInterval(() => void look().catch(() => ended.abort()), LOOK_MS)
      const signal = AbortSignal.any([request.signal, ended.signal])
      const end = () => clearInterval(timer)
      signal.addEventListener("abort", end, { once: true })
      return { signal, end }
    },
  }
}
