import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useMemo, useState } from "preact/hooks"
import { useParams } from "wouter"
import type { Realtime, Summary } from "../../../domain/report.ts"
import type { OpenShareResponse, Section, SharedViewResponse } from "../../../domain/share.ts"
import { type SiteAddress, summaryArguments } from "../../../domain/site-address.ts"
import { get, Problem, post } from "../../api/api.ts"
import { AddressPlaceContext, useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { Mark } from "../../parts/icon.tsx"
import { Page } from "../../parts/page.tsx"
import { ErrorState, SystemPage } from "../../parts/states.tsx"
import { BreakdownCards } from "../../report/cards/cards.tsx"
import { StatsSourceContext, useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts, useFilterBar } from "../../report/filters/filter-bar.tsx"
import { Instrument } from "../../report/summary.tsx"
import { FreshnessBar } from "../../report/trust.tsx"
import { RangeTools } from "../../shell/range-tools.tsx"
import { rangeText, short } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { isEmbedded, themeInUrl, useEmbedding } from "./embedding.ts"
import { allowedAddress, sharedSource } from "./share-source.ts"

/** Renders a shared view of a site for anyone with the link. */
export default function SharedViewPage() {
  const { slug = "" } = useParams<{ slug: string }>()
  const { data, error, refetch } = useQuery({
    queryKey: ["share", slug],
    queryFn: ({ signal }) => get<SharedViewResponse>(`/api/share/s/${encodeURIComponent(slug)}`, signal),
  })
  useSystemTheme()
  useEmbedding()
  if (error instanceof Problem && error.status === 404) return <NoSharedView />
  if (error && !data)
    return (
      <SystemPage title="This view can't be shown right now">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </SystemPage>
    )
  if (!data) return <div class="progress-line" />
  return data.password_required ? <Locked slug={slug} /> : <SharedReport slug={slug} view={data} />
}

/** Uses the system's theme while a shared view is open, or that of the URL. A theme chosen in the preferences applies to the user's own pages only. */
function useSystemTheme(): void {
  useEffect(() => {
    const root = document.documentElement
    const before = root.dataset.theme
    root.dataset.theme = themeInUrl() ?? "auto"
    return () => {
      if (before !== undefined) root.dataset.theme = before
    }
  }, [])
}

/** Renders the same page for shared views that never existed, expired or were revoked. */
function NoSharedView() {
  useEffect(() => {
    document.title = "Page not found · Footfall"
  }, [])
  return (
    <SystemPage title="Page not found">
      <p>This shared view doesn't exist or was removed.</p>
    </SystemPage>
  )
}

function Locked({ slug }: { slug: string }) {
  const [password, setPassword] = useState("")
  const client = useQueryClient()
  const unlock = async () => {
    await post(`/api/share/s/${encodeURIComponent(slug)}/unlock`, { password }, { isSignIn: true })
    await client.invalidateQueries({ queryKey: ["share", slug] })
  }
  useEffect(() => {
    document.title = "Shared view · Footfall"
  }, [])
  return (
    <SystemPage title="Enter the password">
      <Form submit={unlock}>
        {({ busy }) => (
          <>
            <TextField label="Password" type="password" value={password} onValue={setPassword} autocomplete="off" autofocus required />
            <div>
              <Button kind="primary" type="submit" busy={busy}>
                Open shared view
              </Button>
            </div>
          </>
        )}
      </Form>
    </SystemPage>
  )
}

function SharedReport({ slug, view }: { slug: string; view: OpenShareResponse }) {
  const client = useQueryClient()
  const source = useMemo(
    () => sharedSource(slug, view, () => void client.invalidateQueries({ queryKey: ["share", slug] })),
    [slug, view, client],
  )
  const place = useMemo(
    () => ({ base: `/share/s/${slug}`, key: `share ${slug}`, holds: (address: SiteAddress) => allowedAddress(view, address) }),
    [slug, view],
  )
  const shows = (section: Section) => view.sections.includes(section)
  const tools = view.allow_range && <RangeTools place="wide" />
  return (
    <AddressPlaceContext.Provider value={place}>
      <StatsSourceContext.Provider value={source}>
        {isEmbedded() ? (
          <div class="share-bar">{tools}</div>
        ) : (
          <header class="top-bar">
            <a class="button skip-link" href="#main">
              Skip to content
            </a>
            <span class="mark">
              <Mark />
              <span class="site-name">{visible(view.site.name)}</span>
            </span>
            {shows("realtime") && <Now />}
            <span class="grow" />
            {tools}
          </header>
        )}
        <div class="content">
          {view.allow_range && <RangeTools place="narrow" />}
          <FreshnessBar />
          <Page title={visible(view.name)}>
            <Overview view={view} />
          </Page>
        </div>
      </StatsSourceContext.Provider>
    </AddressPlaceContext.Provider>
  )
}

/** Renders the content of the view. A component of its own, because it needs the contexts above. */
function Overview({ view }: { view: OpenShareResponse }) {
  const { shows } = useStatsSource()
  const [hasFilterBar, onFilterBar] = useFilterBar()
  const [hasFigures, setFigures] = useState(!shows("summary"))
  return (
    <>
      {!view.allow_range && shows("summary") && <FixedRange />}
      {view.allow_filters && <FilterBar onShown={onFilterBar} />}
      <IgnoredAddressParts />
      {shows("summary") && <Instrument isWaiting={!hasFilterBar} onSettled={() => setFigures(true)} />}
      <BreakdownCards isWaiting={!hasFilterBar || !hasFigures} />
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
