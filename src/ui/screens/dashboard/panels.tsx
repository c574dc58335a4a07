import { Suspense } from "preact/compat"
import { useMe } from "../../api/session.ts"
import { lazyPart } from "../../parts/loading.ts"
import { useStatsSource } from "../../report/data/reports.ts"
import { panels } from "../../shell/plugin-pages.ts"

const PANELS = panels().map(({ plugin, panel }) => ({ plugin, panel, Panel: lazyPart(panel.load) }))

/** Renders the cards of enabled plugins that the user may read. */
export function Panels() {
  const features = useMe()?.features ?? []
  const { can } = useStatsSource()
  const shown = PANELS.filter(({ plugin, panel }) => features.includes(plugin) && can(panel.permission))
  if (shown.length === 0) return null
  return (
    <div class="bands">
      {shown.map(({ plugin, panel, Panel }) => (
        <Suspense key={`${plugin} ${panel.id}`} fallback={null}>
          <Panel />
        </Suspense>
      ))}
    </div>
  )
}
