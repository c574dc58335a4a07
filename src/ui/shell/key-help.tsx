import { useMe } from "../api/session.ts"
import { Dialog } from "../parts/dialog.tsx"
import { PERIOD_LABELS } from "../report/data/ranges.ts"
import { entriesFor } from "./rail.tsx"

/** All shortcuts and their actions. A shortcut to a plugin's page also has the path of that page. */
const KEYS: readonly (readonly [key: string, act: string, path?: string])[] = [
  ["/", "Filter"],
  ...PERIOD_LABELS.flatMap(({ key, label }) => (key ? [[key, label] as const] : [])),
  ["C", "Custom range"],
  ["[ ]", "Earlier, later period"],
  ["X", "Turn comparison on or off"],
  ["1 – 6", "Choose the metric in the chart"],
  ["T", "Show chart as table"],
  ["S", "Switch site"],
  ["R", "Realtime"],
  ["G then O", "Overview"],
  ["G then R", "Retention", "/retention"],
  ["G then G", "Goals"],
  ["G then F", "Funnels"],
  ["G then J", "Journeys"],
  ["G then C", "Campaigns"],
  ["← →", "In the chart: move the point; Enter opens its menu"],
  ["↑ ↓", "In a list: move between rows; Enter filters"],
  ["Esc", "Close dialog or clear filters"],
  ["?", "Show shortcuts"],
]

/** Lists the shortcuts that the user can use. */
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

/** Renders the dialog with all shortcuts. */
export default function KeyHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <KeyList />
      <p class="small quiet">Shortcuts are off while you type. You can turn them off in your account preferences.</p>
    </Dialog>
  )
}
