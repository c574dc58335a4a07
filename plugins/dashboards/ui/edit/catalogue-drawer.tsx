import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { canOnSite, Dialog, get, useMe } from "#plugin/ui"
import type { Config } from "../../board.ts"
import type { CatalogueRow } from "../../responses.ts"

/** Fetches the types of widgets for a site. */
export const useCatalogue = (siteId: number): UseQueryResult<{ data: CatalogueRow[] }, Error> =>
  useQuery({
    queryKey: ["dashboards", siteId, "catalogue"],
    queryFn: ({ signal }) => get<{ data: CatalogueRow[] }>(`/api/private/dashboard-widgets?site=${siteId}`, signal),
    staleTime: 300_000,
  })

/** Configurations of new widgets, for types that need one. */
const FIRST_CONFIGS: Readonly<Record<string, Config>> = {
  metric: { metric: "visitors" },
  timeseries: { metrics: ["visitors"], chart: "line" },
  breakdown: { dimension: "page", metrics: ["visitors"] },
  map: { metric: "visitors", level: "country" },
  comparison: {
    metric: "visitors",
    rows: [
      { label: "Phones", filters: [{ dimension: "device", operator: "is", values: ["Mobile"] }] },
      { label: "Desktops", filters: [{ dimension: "device", operator: "is", values: ["Desktop"] }] },
    ],
  },
  funnel: {
    steps: [
      { type: "page", value: "/" },
      { type: "page", value: "/pricing" },
    ],
  },
  text: { markdown: "## Heading\n\nWhat this dashboard is about." },
}

interface CatalogueDrawerProps {
  siteId: number
  catalogue: readonly CatalogueRow[]
  onAdd(row: CatalogueRow, config: Config): void
  onClose(): void
}

/** Drawer with the types of widgets. Types that the user may not use are absent; those of plugins that are off are greyed out. */
export function CatalogueDrawer({ siteId, catalogue, onAdd, onClose }: CatalogueDrawerProps) {
  const me = useMe()
  const usable = catalogue.filter(({ needs }) => canOnSite(me, siteId, needs))
  return (
    <Dialog title="Add widget" onClose={onClose} drawer>
      <ul class="catalogue">
        {usable.map((row) => (
          <li key={row.type}>
            <button
              type="button"
              class="catalogue-item"
              disabled={!row.available}
              onClick={() => onAdd(row, FIRST_CONFIGS[row.type] ?? {})}
            >
              <strong>{row.title}</strong>
              <span class="small">{row.available ? row.description : "The plugin of this widget is off."}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
