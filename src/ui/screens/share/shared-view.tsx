import { useMemo, useState } from "preact/hooks"
import { useParams } from "wouter"
import type { Realtime, Summary } from "../../../domain/report.ts"
import type { OpenShareResponse, Section } from "../../../domain/share.ts"
import { type SiteAddress, summaryArguments } from "../../../domain/site-address.ts"
import { AddressPlaceContext, useSiteAddress } from "../../browser/address.ts"
import { Page } from "../../parts/page.tsx"
import { BreakdownCards } from "../../report/cards/cards.tsx"
import { StatsSourceContext, useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts, useFilterBar } from "../../report/filters/filter-bar.tsx"
import { Instrument } from "../../report/summary.tsx"
import { rangeText, short } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { isEmbedded, SHARE_PARAMETERS } from "./embedding.ts"
import { OpenShare, ShareFrame } from "./share-page.tsx"
import { allowedAddress, sharedSource } from "./share-source.ts"

/** Renders a shared view of a site for anyone with the link. */
export default function SharedViewPage() {
  const { slug = "" } = useParams<{ slug: string }>()
  return (
    <OpenShare<OpenShareResponse> path={`/api/share/s/${encodeURIComponent(slug)}`}>
      {(view, onLocked) => <SharedReport slug={slug} view={view} onLocked={onLocked} />}
    </OpenShare>
  )
}

function SharedReport({ slug, view, onLocked }: { slug: string; view: OpenShareResponse; onLocked(): void }) {
  const source = useMemo(() => sharedSource(slug, view, onLocked), [slug, view])
  const place = useMemo(
    () => ({
      base: `/share/s/${slug}`,
      key: `share ${slug}`,
      keeps: SHARE_PARAMETERS,
      holds: (address: SiteAddress) => allowedAddress(view, address),
    }),
    [slug, view],
  )
  const shows = (section: Section) => view.sections.includes(section)
  return (
    <AddressPlaceContext.Provider value={place}>
      <StatsSourceContext.Provider value={source}>
        <ShareFrame name={view.site.name} beside={!isEmbedded() && shows("realtime") && <Now />} hasRange={view.allow_range}>
          <Page title={visible(view.name)}>
            <Overview view={view} />
          </Page>
        </ShareFrame>
      </StatsSourceContext.Provider>
    </AddressPlaceContext.Provider>
  )
}

/** Renders the content of the view. A component of its own, because it needs the contexts above. */
function Overview({ view }: { view: OpenShareResponse }) {
  const { shows } = useStatsSource()
  const [hasFilterBar, onFilterBar] = useFilterBar()
  const [isEmpty, setEmpty] = useState(false)
  const [hasFigures, setFigures] = useState(!shows("summary"))
  return (
    <>
      {!view.allow_range && shows("summary") && <FixedRange />}
      {view.allow_filters && <FilterBar onShown={onFilterBar} />}
      <IgnoredAddressParts />
      {shows("summary") && <Instrument isWaiting={!hasFilterBar} onSettled={() => setFigures(true)} onEmpty={setEmpty} />}
      <BreakdownCards isWaiting={!hasFilterBar || !hasFigures} isEmpty={isEmpty} />
    </>
  )
}

/** Shows the fixed period of the view, as the response reports it. */
function FixedRange() {
  const { address } = useSiteAddress()
  const { data } = useReport("summary", summaryArguments(address))
  const range = (data as Summary | undefined)?.range
  return <p class="quiet fixed-range">{range ? `${rangeText(range.from, range.to)} · ${range.timezone}` : "\u00a0"}</p>
}

function Now() {
  const { data } = useReport("realtime", {}, { refetchMs: 30_000 })
  const visitors = (data as Realtime | undefined)?.visitors
  return (
    <span class="row small quiet">
      <span class="dot" data-state={visitors ? "on" : "quiet"} />
      {visitors === undefined ? "–" : short(visitors)} online
    </span>
  )
}
