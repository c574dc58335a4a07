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

const columnsOf = (siteId: number): Column<ListedPixelResponse>[] => [
  {
    id: "name",
    label: "Pixel",
    cell: (pixel) => (
      <ItemName of={PIXELS} siteId={siteId} item={pixel} badges={pixel.archived ? ["archived"] : []} note={KIND_LABELS[pixel.kind]} />
    ),
  },
  countColumn("direct", "Direct, 30 days", ({ recent }) => recent.opens_direct),
  countColumn("proxied", "Proxied", ({ recent }) => recent.opens_proxied),
  countColumn("prefetched", "Prefetched", ({ recent }) => recent.opens_prefetched),
  countColumn("bots", "Bots", ({ recent }) => recent.bots),
  countColumn("total", "All time", ({ opens_total }) => opens_total),
  { id: "last", label: "Last open", cell: ({ last_open_at }) => <TimeAgo at={last_open_at} /> },
]
