import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { send } from "../api/api.ts"
import { providerAddress } from "../sign-in/ways-in.ts"

export const SESSION_PATH = "/api/private/auth/session"

export interface SessionNow {
  user: { id: number }
  /** Until when the last identity confirmation is valid. */
  reauth_until?: string
  /** Identity provider that the session was opened with. */
  provider?: string
}

interface ProviderLinkProps {
  provider: { id: string; name: string }
  asked: Record<string, string>
  isDone(session: SessionNow): boolean
  onDone(session: SessionNow): void
}

const POLL_MS = 1_500

/** Opens an identity provider in a new window, so that this page keeps its input, and polls the session for the result. */
export function ProviderLink({ provider, asked, isDone, onDone }: ProviderLinkProps) {
  const [isAway, setAway] = useState(false)
  const { data } = useQuery({
    queryKey: ["session-now", provider.id],
    queryFn: ({ signal }) => send<SessionNow>(SESSION_PATH, { signal, isSignIn: true }),
    enabled: isAway,
    refetchInterval: POLL_MS,
    refetchIntervalInBackground: true,
  })
  useEffect(() => {
    if (data && isDone(data)) onDone(data)
  }, [data])
  return (
    <div class="stack">
      <a
        class="button"
        href={providerAddress(provider.id, { next: "/signin?proved=true", ...asked })}
        target="_blank"
        rel="noopener"
        onClick={() => setAway(true)}
      >
        Continue with {provider.name}
      </a>
      {isAway && (
        <p class="small quiet" role="status">
          Waiting for {provider.name}. Return to this window when you're done.
        </p>
      )}
    </div>
  )
}
