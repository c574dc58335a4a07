import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useMemo, useState } from "preact/hooks"
import { useSiteAddress } from "../address.ts"
import { lazyPart } from "../lazy-screen.ts"
import { useMe } from "../me.ts"
import { useSite } from "../site.ts"
import { createBatch } from "../stats/batch.ts"
import { FreshnessBar } from "../stats/freshness.tsx"
import { asFileQuery, type StatsSource, StatsSourceContext } from "../stats/source.ts"
import { CurrentVisitors } from "./current-visitors.tsx"
import { SiteBottomBar, SiteRail } from "./rail.tsx"
import { RangeTools } from "./range-tools.tsx"
import { SiteSwitcher } from "./site-switcher.tsx"
import { NotFound } from "./system-pages.tsx"
import { TopBar } from "./top-bar.tsx"

const SiteKeys = lazyPart(() => import("./site-keys.tsx"))

interface SiteShellProps {
  children: ComponentChildren
  /** The page is about a period. */
  ranged?: boolean
}

/** The frame of every page of a site: switcher, rail, and where its reports come from. Of a site one cannot see nothing is asked. */
export function SiteShell(props: SiteShellProps) {
  const { siteId } = useSiteAddress()
  return useMe()?.sites.some(({ id }) => id === siteId) ? <Frame {...props} /> : <NotFound />
}

function Frame({ children, ranged = false }: SiteShellProps) {
  const { siteId, searchWith } = useSiteAddress()
  const source = useSource(siteId)
  const [switches, setSwitches] = useState(0)
  const search = searchWith({ cards: {} })
  return (
    <StatsSourceContext.Provider value={source}>
      <TopBar tools={ranged && <RangeTools place="wide" />}>
        <SiteSwitcher siteId={siteId} openSignal={switches} />
        <CurrentVisitors />
      </TopBar>
      <div class="frame">
        <SiteRail siteId={siteId} search={search} />
        <div class="content">
          {ranged && <RangeTools place="narrow" />}
          {ranged && <FreshnessBar />}
          {children}
        </div>
      </div>
      <SiteBottomBar siteId={siteId} search={search} />
      <Suspense fallback={null}>
        <SiteKeys siteId={siteId} search={search} onSwitch={() => setSwitches(switches + 1)} />
      </Suspense>
    </StatsSourceContext.Provider>
  )
}

function useSource(siteId: number): StatsSource {
  const me = useMe()
  const { data: site } = useSite(siteId)
  const ask = useMemo(() => createBatch(siteId), [siteId])
  const permissions = me?.sites.find(({ id }) => id === siteId)?.permissions ?? []
  return {
    key: `site ${siteId}`,
    siteId,
    timezone: site?.timezone ?? "UTC",
    currency: site?.revenue_currency ?? "EUR",
    ask,
    exportAddress: permissions.includes("export:read")
      ? (report, given) => `/api/private/sites/${siteId}/export?${asFileQuery(report, given)}`
      : undefined,
    filters: true,
    shows: () => true,
    can: (permission) => permissions.includes(permission),
  }
}
