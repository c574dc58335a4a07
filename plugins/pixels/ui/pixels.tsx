import { lazy } from "preact/compat"
import { type Column, countColumn, ItemName, type ListFilter, ListPage, TimeAgo, visible } from "#plugin/ui"
import { KINDS } from "../pixel.ts"
import type { ListedPixelResponse } from "../responses.ts"
import { KIND_LABELS, PIXELS } from "./answers.ts"

const Editor = lazy(() => import("./pixel-form.tsx"))

/** List of the site's tracking pixels with their opens by route. */
export default function Pixels() {
  return (
    <ListPage<ListedPixelResponse>
      of={PIXELS}
      caption="Tracking pixels"
      filters={FILTERS}
      defaults={{ state: "active" }}
      columns={columnsOf}
      copied={({ url, name }) => ({ text: url, label: `Copy the URL of ${visible(name)}` })}
      empty="No pixels yet. A pixel is an image that counts how often an email, feed, README or someone else's page is opened."
      Editor={Editor}
    />
  )
}

const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name or slug" },
  { name: "kind", label: "Used in", options: [["", "All"], ...KINDS.map((kind) => [kind, KIND_LABELS[kind]] as const)] },
  {
    name: "state",
    label: "State",
    options: [
      ["", "Active"],
      ["archived", "Archived"],
    ],
  },
  {
    name: "sort",
    label: "Sort by",
    options: [
      ["", "Newest first"],
      ["opens", "Most opens first"],
      ["last_open", "Most recent open first"],
      ["name", "Name"],
    ],
  },
]

const ROUTES = [
  ["opens_direct", "Direct"],
  ["opens_proxied", "Proxied"],
  ["opens_prefetched", "Prefetched"],
  ["bots", "Bots"],
] as const

const columnsOf = (siteId: number): Column<ListedPixelResponse>[] => [
  {
    id: "name",
    label: "Pixel",
    cell: (pixel) => (
      <ItemName of={PIXELS} siteId={siteId} item={pixel} badges={pixel.archived ? ["archived"] : []} note={KIND_LABELS[pixel.kind]} />
    ),
  },
  countColumn("opens", "Opens, 30 days", ({ recent }) => recent.opens_direct + recent.opens_proxied + recent.opens_prefetched),
  ...ROUTES.map(([name, label]) => ({
    ...countColumn<ListedPixelResponse>(name, label, ({ recent }) => recent[name]),
    wideOnly: true,
  })),
  { ...countColumn<ListedPixelResponse>("total", "Opens, all time", ({ opens_total }) => opens_total), wideOnly: true },
  { id: "last", label: "Last open", wideOnly: true, cell: ({ last_open_at }) => <TimeAgo at={last_open_at} /> },
]
