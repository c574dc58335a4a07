import { Button, type Column, DataTable, exact, Page, patch, QueryResult, useRefreshMe } from "#plugin/ui"
import type { PluginResponse } from "../../operation-responses.ts"
import { ConfirmedAction, useAction } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"

/** The console itself, which can't be disabled: there would be no way to enable it again. */
const CONSOLE = "admin"

/** Page of the plugins with a button to enable or disable each. */
export default function Plugins() {
  const areas = useAdmin<{ data: PluginResponse[] }>("plugins")
  return (
    <Page title="Plugins">
      <p class="quiet">Disabled plugins keep their data but do nothing. Retention still applies.</p>
      <QueryResult of={areas} rows={4}>
        {({ data }) => <DataTable stacks caption="Plugins" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />}
      </QueryResult>
    </Page>
  )
}

const COLUMNS: Column<PluginResponse>[] = [
  { id: "title", label: "Plugin", cell: ({ title }) => title },
  { id: "state", label: "State", cell: ({ enabled }) => (enabled ? "enabled" : "disabled") },
  { id: "tables", label: "Tables", number: true, cell: ({ tables }) => exact(tables.length) },
  { id: "rows", label: "Rows", number: true, cell: ({ rows }) => exact(rows) },
  { id: "schema", label: "Schema", cell: ({ schema }) => schema.at(-1) ?? "none" },
  { id: "actions", label: "Actions", cell: (area) => (area.id === CONSOLE ? "always enabled" : <Switch area={area} />) },
]

function Switch({ area: { id, title, enabled, version } }: { area: PluginResponse }) {
  const refresh = useRefresh()
  const refreshMe = useRefreshMe()
  const [busy, act] = useAction()
  const toggle = async () => {
    await patch(`${ADMIN}/plugins`, { id, enabled: !enabled, version })
    await refresh("plugins", "system")
    await refreshMe()
  }
  if (!enabled)
    return (
      <Button busy={busy} aria-label={`Enable ${title}`} onClick={() => void act(toggle, `${title} enabled`)}>
        Enable
      </Button>
    )
  return (
    <ConfirmedAction label="Disable" about={title} title={`Disable ${title}`} act="Disable plugin" onConfirm={toggle}>
      <p>Its pages and routes return 404, including those for visitors. Its data is kept.</p>
    </ConfirmedAction>
  )
}
