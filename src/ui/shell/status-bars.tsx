import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { get, post } from "../api/api.ts"
import { useMe } from "../api/session.ts"
import { Button } from "../parts/button.tsx"
import { errorText } from "../parts/states.tsx"
import { timeText } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"

interface InstanceState {
  states: { code: string; since: string; remedy: string }[]
  maintenance: { enabled: boolean; message: string | null; until: string | null }
}

const POLL_MS = 60_000

/** What happened and what is safe, by state. States without a text here are shown in the admin console only. */
const WORDS: Readonly<Record<string, string>> = {
  storage_full: "The disk is full. Recorded data is safe and reports still work, but new events are rejected until there is space.",
  storage_locked: "Another process has locked a store. Recorded data is safe, but new events are rejected until the lock is released.",
  storage_damaged: "A store is damaged. Intact data is still shown. Nothing is repaired or deleted automatically.",
  queue_full: "Events arrive faster than they can be stored. Some are rejected, and senders retry.",
  storage_low: "The disk is nearly full. Once it is full, new events are rejected.",
}

/** Shows instance admins, on every page, the cause and remedy of an unhealthy state, and that maintenance is on. */
export function StateBar() {
  const me = useMe()
  const { data } = useQuery({
    queryKey: ["instance-state"],
    queryFn: ({ signal }) => get<InstanceState>("/api/private/admin/system/state", signal),
    enabled: me?.features.includes("admin") === true,
    staleTime: POLL_MS,
    refetchInterval: POLL_MS,
  })
  if (!data) return null
  const { maintenance } = data
  const states = data.states.filter(({ code }) => code in WORDS)
  if (states.length === 0 && !maintenance.enabled) return null
  return (
    <div class="state-bar" role="status">
      {states.map(({ code, since, remedy }) => (
        <p key={code}>
          <strong>{WORDS[code]}</strong> {remedy} <span class="quiet">Since {timeText(since)}.</span>
        </p>
      ))}
      {maintenance.enabled && (
        <p>
          <strong>Maintenance is on{maintenance.until && `, until ${timeText(maintenance.until)}`}.</strong> Events are collected, but only
          instance admins can make changes. {maintenance.message && visible(maintenance.message)}{" "}
          <a href="/admin/maintenance">Turn off maintenance</a>
        </p>
      )}
    </div>
  )
}

/** Renders a red frame and a bar with *Stop impersonating* while an instance admin impersonates a user. */
export function ImpersonationBar() {
  const me = useMe()
  const [fault, setFault] = useState<string>()
  if (!me?.impersonation) return null
  const { by, mode, expires_at } = me.impersonation
  const stop = () => stopImpersonation().catch((error: Error) => setFault(errorText(error)))
  return (
    <>
      <div class="impersonated" aria-hidden="true" />
      <div class="impersonation-bar" role="region" aria-label="Impersonation">
        <span>
          {by} is impersonating {me.user.email} {mode === "read_only" ? " (read-only)" : ""} until {timeText(expires_at)}. {fault}
        </span>
        <Button kind="danger" onClick={stop}>
          Stop impersonating
        </Button>
      </div>
    </>
  )
}

/** Returns to the admin's own session, even if the impersonation has expired, and reloads the page. */
export async function stopImpersonation(): Promise<void> {
  await post("/api/private/admin/impersonation/stop", undefined, { isSignIn: true })
  location.assign("/")
}
