import { useMemo } from "preact/hooks"
import { useLocation, useParams, useSearch } from "wouter"
import {
  AddressPlaceContext,
  EmptyState,
  FilterBar,
  Icon,
  IgnoredAddressParts,
  isEmbedded,
  MenuItem,
  NoShare,
  OpenShare,
  Page,
  Popover,
  rangeText,
  SHARE_PARAMETERS,
  ShareFrame,
  type SiteAddress,
  StatsSourceContext,
  useSiteAddress,
  visible,
} from "#plugin/ui"
import type { OpenBoard } from "../../shares/responses.ts"
import { type BoardSource, REFRESH_MS, useBoardData } from "../board/data.ts"
import { Grid } from "../board/grid.tsx"
import { questionOf, useBoardRange } from "../board/range.ts"
import { titleOf } from "../labels.ts"
import { allowedAddress, sharedSource } from "./shared-source.ts"

const PARAMETERS = [...SHARE_PARAMETERS, "site"]

/** Renders a shared dashboard, or one widget of it, for anyone with the link. */
export default function SharedBoardPage() {
  const { slug = "", "*": rest = "" } = useParams<{ slug: string; "*": string }>()
  const widget = /^widgets\/(\d+)$/.exec(rest)?.[1]
  if (rest !== "" && widget === undefined) return <NoShare />
  return (
    <OpenShare<OpenBoard> path={`/api/share/d/${encodeURIComponent(slug)}`}>
      {(board, onLocked) => {
        const widgets = board.widgets.filter(({ id }) => widget === undefined || String(id) === widget)
        if (widget !== undefined && widgets.length === 0) return <NoShare />
        return <Shared slug={slug} board={board} widgets={widgets} isOne={widget !== undefined} onLocked={onLocked} />
      }}
    </OpenShare>
  )
}

interface SharedProps {
  slug: string
  board: OpenBoard
  /** The widgets of the page: all of the dashboard, or one. */
  widgets: OpenBoard["widgets"]
  isOne: boolean
  onLocked(): void
}

function Shared(props: SharedProps) {
  const { slug, board, widgets, isOne } = props
  const site = useChosenSite(board)
  const path = `/api/share/d/${encodeURIComponent(slug)}`
  const base = `/share/d/${slug}${isOne ? `/widgets/${widgets[0]!.id}` : ""}` // the page of one widget has it
  const source = useMemo(() => sharedSource(path, board, site), [path, board, site])
  const place = useMemo(
    () => ({
      ...{ base, key: `share d ${slug}`, keeps: PARAMETERS, hasAlternatives: false },
      holds: (address: SiteAddress) => allowedAddress(board, address),
    }),
    [base, slug, board],
  )
  return (
    <AddressPlaceContext.Provider value={place}>
      <StatsSourceContext.Provider value={source}>
        <ShareFrame
          name={board.name}
          beside={board.sites && <SiteChoice sites={board.sites} chosen={site} />}
          hasRange={board.allow_range && !(isOne && isEmbedded())}
        >
          <Content {...props} path={path} site={site} />
        </ShareFrame>
      </StatsSourceContext.Provider>
    </AddressPlaceContext.Provider>
  )
}

/** Renders the widgets. A component of its own, because it needs the contexts above. */
function Content({ board, widgets, isOne, onLocked, path, site }: SharedProps & { path: string; site: number }) {
  const { address } = useSiteAddress()
  const { allow_range, allow_export, timezone, refresh_s } = board
  const isKnown = useBoardRange(board.range) || !allow_range
  const question = useMemo(() => {
    if (!isKnown) return undefined
    const { range, compare, filters } = questionOf(address, timezone)
    return { ...(allow_range && { range, compare }), ...(filters && { filters }) }
  }, [address, timezone, isKnown, allow_range])
  const source = useMemo(
    (): BoardSource => ({
      dataPath: `${path}/data`,
      csvPath: allow_export ? (widget) => `${path}/widgets/${widget}.csv` : undefined,
      ...(board.sites && { more: { site } }),
      onLocked,
    }),
    [path, allow_export, board.sites, site],
  )
  const data = useBoardData(source, widgets.length > 0 ? question : undefined, {
    version: 0,
    ids: widgets.map(({ id }) => id),
    isPart: isOne,
    refreshMs: refresh_s * 1_000 || REFRESH_MS,
  })
  const facts = [
    ...(!allow_range && data.range ? [rangeText(data.range.from, data.range.to), timezone] : []),
    ...(board.filtered ? ["Filtered"] : []),
  ]
  const shown = isOne ? widgets.map((widget) => ({ ...widget, x: 0, y: 0, w: 12 })) : widgets
  return (
    <Page title={visible(isOne ? titleOf(widgets[0]!) : board.title)} hideTitle={isOne}>
      {(facts.length > 0 || !allow_range) && !isOne && <p class="quiet fixed-range">{facts.join(" · ") || "\u00a0"}</p>}
      <FilterBar />
      <IgnoredAddressParts ownCards />
      {widgets.length === 0 ? (
        <EmptyState>This dashboard has no widgets yet.</EmptyState>
      ) : (
        <Grid widgets={shown} data={data} source={source} question={question} siteId={undefined} />
      )}
    </Page>
  )
}

/** Returns the number of the site in the URL, or 0 for the dashboard's own. */
function useChosenSite({ sites = [] }: OpenBoard): number {
  const wanted = Number(new URLSearchParams(useSearch()).get("site"))
  return sites.find(({ site }) => site === wanted)?.site ?? 0
}

function SiteChoice({ sites, chosen }: { sites: NonNullable<OpenBoard["sites"]>; chosen: number }) {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const name = visible(sites.find(({ site }) => site === chosen)?.name ?? "")
  function choose(site: number): void {
    const query = new URLSearchParams(search)
    query.set("site", String(site))
    navigate(`${path}?${query}`)
  }
  return (
    <Popover
      label={`Site: ${name}`}
      button={
        <>
          <span class="button-text">{name}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) =>
        sites.map((one) => (
          <MenuItem
            key={one.site}
            checked={one.site === chosen}
            onSelect={() => {
              choose(one.site)
              close()
            }}
          >
            {visible(one.name)}
          </MenuItem>
        ))
      }
    </Popover>
  )
}
