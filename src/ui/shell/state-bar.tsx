import { useQuery } from "@tanstack/react-query"
import { get } from "../api.ts"
import { timeText } from "../format.ts"
import { useMe } from "../me.ts"
import { visible } from "../safe-text.ts"

interface InstanceState {
  states: { code: string; since: string; remedy: string }[]
  maintenance: { enabled: boolean; message: string | null; until: string | null }
}

const LOOK_EVERY_MS = 60_000

/** What happened, and what is safe. States without words here are told by the console alone. */
const WORDS: Readonly<Record<string, string>> = {
  storage_full: "The disk is full. Recorded data is safe and reports work; new events are refused until there is space.",
  storage_locked: "Another process holds a store. Recorded data is safe; new events are refused until it lets go.",
  storage_damaged: "A store is damaged. What is intact goes on being shown; nothing is repaired or deleted by itself.",
  queue_full: "More events come than can be stored. Some are refused, and senders try again.",
  storage_low: "The disk is nearly full. When it is full, events are refused.",
}

/** Across every page of whoever runs the instance, while something of it does not work: the cause and its remedy. */
export default function StateBar() {
  const me = useMe()
  const { data } = useQuery({
    queryKey: ["instance-state"],
    queryFn: ({ signal }) => get<InstanceState>("/api/private/admin/system/state", signal),
    enabled: me?.features.includes("admin") === true,
    staleTime: LOOK_EVERY_MS,
    refetchInterval: LOOK_EVERY_MS,
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
          <strong>Maintenance is on{maintenance.until && `, until ${timeText(maintenance.until)}`}.</strong> Events are collected; changes
          of everybody but instance admins wait. {maintenance.message && visible(maintenance.message)}{" "}
          <a href="/admin/maintenance">End it</a>
        </p>
      )}
    </div>
  )
}
