import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { send } from "../api.ts"
import { providerAddress } from "../sign-in/ways-in.ts"

export const SESSION_PATH = "/api/private/auth/session"

export interface SessionNow {
  user: { id: number }
  /** While a fresh proof holds. */
  reauth_until?: string
  /** The identity provider that opened it. */
  provider?: string
}

interface ProviderLinkProps {
  provider: { id: string; name: string }
  asked: Record<string, string>
  isDone(session: SessionNow): boolean
  onDone(session: SessionNow): void
}

const LOOK_EVERY_MS = 1_500

/** To an identity provider in a window of its own, so that this page keeps what was typed; it watches for what comes of it. */
export function ProviderLink({ provider, asked, isDone, onDone }: ProviderLinkProps) {
  const [isAway, setAway] = useState(false)
  const { data } = useQuery({
    queryKey: ["session-now", provider.id],
    queryFn: ({ signal }) => send<SessionNow>(SESSION_PATH, { signal, isSignIn: true }),
    enabled: isAway,
    refetchInterval: LOOK_EVERY_MS,
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
        Go to {provider.name}
      </a>
      {isAway && (
        <p class="small quiet" role="status">
          Waiting for {provider.name}. Come back to this window afterwards.
        </p>
      )}
    </div>
  )
}
