import { useMe } from "../me.ts"
import { Dialog } from "../parts/dialog.tsx"
import { PERIOD_WORDS } from "../period-words.ts"
import { entriesFor } from "./navigation.ts"

/** All keys with what they do; what leads to a page of a plugin names its path. */
const KEYS: readonly (readonly [key: string, act: string, path?: string])[] = [
  ["/", "Filter"],
  ...PERIOD_WORDS.flatMap(({ key, label }) => (key ? [[key, label] as const] : [])),
  ["C", "Custom range"],
  ["[ ]", "Earlier, later period"],
  ["X", "Comparison on, off"],
  ["1 – 6", "Figure in the chart"],
  ["T", "Chart as table"],
  ["S", "Other site"],
  ["R", "Realtime"],
  ["G then O", "Overview"],
  ["G then R", "Retention", "/retention"],
  ["G then G", "Goals"],
  ["G then F", "Funnels"],
  ["G then J", "Journeys"],
  ["G then C", "Campaigns"],
  ["← →", "In the chart: move the point; Enter opens its menu"],
  ["↑ ↓", "In a list: move between rows; Enter filters"],
  ["Esc", "Close what is open, else clear the filters"],
  ["?", "These keys"],
]

/** The keys that do something for whoever is signed in. */
export function KeyList() {
  const me = useMe()
  const permissions = me?.sites.flatMap((site) => site.permissions) ?? []
  const open = new Set(entriesFor(permissions, me?.features ?? []).map(({ path }) => path))
  return (
    <dl class="keys">
      {KEYS.filter(([, , path]) => path === undefined || open.has(path)).map(([key, act]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{act}</dd>
        </div>
      ))}
    </dl>
  )
}

/** All keys. They can be switched off in the preferences. */
export default function KeyHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <KeyList />
      <p class="small quiet">Keys rest while you type. They can be switched off in the preferences of your account.</p>
    </Dialog>
  )
}
