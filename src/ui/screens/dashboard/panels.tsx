import { Suspense } from "preact/compat"
import { lazyPart } from "../../lazy-screen.ts"
import { useMe } from "../../me.ts"
import { panels } from "../../plugin-pages.ts"
import { useStatsSource } from "../../stats/source.ts"

const PANELS = panels().map(({ plugin, panel }) => ({ plugin, panel, Panel: lazyPart(panel.load) }))

/** Cards of the plugins that are switched on and that the person may read. */
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
