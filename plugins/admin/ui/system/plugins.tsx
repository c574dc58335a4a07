import { Answer, Button, type Column, DataTable, exact, Page, patch, useRefreshMe } from "#plugin/ui"
import { AskedAct, useAct } from "./act.tsx"
import type { Area } from "./answers.ts"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

/** Whoever turned it off could not turn it on again. */
const CONSOLE = "admin"

/** Areas of the product, and the switch of each. */
export default function Plugins() {
  const areas = useAdmin<{ data: Area[] }>("plugins")
  return (
    <Page title="Plugins">
      <p class="quiet">What is off cannot be reached and does no work; it keeps its data, and its data is still deleted in time.</p>
      <Answer of={areas} rows={4}>
        {({ data }) => <DataTable caption="Plugins" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />}
      </Answer>
    </Page>
  )
}

const COLUMNS: Column<Area>[] = [
  { id: "title", label: "Plugin", cell: ({ title }) => title },
  { id: "state", label: "State", cell: ({ enabled }) => (enabled ? "on" : "off") },
  { id: "tables", label: "Tables", number: true, cell: ({ tables }) => exact(tables.length) },
  { id: "rows", label: "Rows", number: true, cell: ({ rows }) => exact(rows) },
  { id: "schema", label: "Schema", cell: ({ schema }) => schema.at(-1) ?? "none" },
  { id: "switch", label: "Switch", cell: (area) => (area.id === CONSOLE ? "always on" : <Switch area={area} />) },
]

function Switch({ area: { id, title, enabled, version } }: { area: Area }) {
  const refresh = useRefresh()
  const refreshMe = useRefreshMe()
  const [busy, act] = useAct()
  const turn = async () => {
    await patch(`${ADMIN}/plugins`, { id, enabled: !enabled, version })
    await refresh("plugins", "system")
    await refreshMe()
  }
  if (!enabled)
    return (
      <Button busy={busy} aria-label={`Switch ${title} on`} onClick={() => void act(turn, `${title} is on`)}>
        Switch on
      </Button>
    )
  return (
    <AskedAct label="Switch off" about={title} title={`Switch ${title} off`} act="Switch off" onConfirm={turn}>
      <p>Its pages are gone and its addresses answer no more, also those that visitors use. Its data stays.</p>
    </AskedAct>
  )
}
