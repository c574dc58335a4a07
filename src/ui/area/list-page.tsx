import type { ComponentChildren, ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link, useLocation } from "wouter"
import { type Filters, queryOf, useFilters, useRows } from "../api/plugin-requests.ts"
import { canOnSite, useMe } from "../api/session.ts"
import { useSiteId } from "../browser/address.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { copyText } from "../parts/copy.tsx"
import { ACTIONS, type Column, PagedTable } from "../parts/data-table.tsx"
import { FilterRow, SearchField, SelectField } from "../parts/form/fields.tsx"
import { Page } from "../parts/page.tsx"
import { exact, short } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"
import { type AreaItem, type AreaItems, Badges, capitalized, type EditorProps, ItemMenu, itemsPath } from "./items.tsx"

/** A filter of a list, or its order if the name is `sort`. */
export interface ListFilter {
  /** Parameter in the URL and in the API. */
  name: string
  label: string
  /** Options of a select, of which "" is the default. Without options the filter is a search field. */
  options?: readonly (readonly [value: string, label: string])[]
}

interface ListPageProps<Item extends AreaItem> {
  of: AreaItems<Item>
  /** Accessible name of the table and of its filters. */
  caption: string
  filters: readonly ListFilter[]
  /** Filters that apply unless the user chooses others. */
  defaults?: Filters
  /** Columns except the last one, which has the actions on a row. */
  columns(siteId: number, setFilters: (changes: Filters) => void): readonly Column<Item>[]
  /** Text that an action in each row copies, and the name of that action. */
  copied?(item: Item): { text: string; label: string }
  /** Text of a list without any items. */
  empty: string
  Editor: ComponentType<EditorProps<Item>>
  /** Further actions of the page. */
  actions?: ComponentChildren
  /** Content between the filters and the table. */
  children?: ComponentChildren
}

/** Page with the items of an area: filters, a table, and buttons that create, edit, archive and delete items. */
export function ListPage<Item extends AreaItem>({ of, Editor, children, ...props }: ListPageProps<Item>) {
  const siteId = useSiteId()
  const writes = canOnSite(useMe(), siteId, of.permission)
  const [, navigate] = useLocation()
  const names = props.filters.map(({ name }) => name)
  const [filters, setFilters] = useFilters(names)
  const [editing, setEditing] = useState<{ item?: Item }>()
  const list = useRows<Item>([of.path, siteId, "list"], itemsPath(siteId, of), { ...props.defaults, ...filters })
  const isFiltered = queryOf({ ...filters, sort: "" }) !== ""
  const actionsColumn: Column<Item> = {
    id: "actions",
    label: ACTIONS,
    cell: (item) => {
      const copied = props.copied?.(item)
      return (
        <div class="row goal-acts">
          {copied && (
            <span class="wide-only">
              <IconButton icon="copy" label={copied.label} onClick={() => void copyText(copied.text)} />
            </span>
          )}
          {writes && <ItemMenu of={of} siteId={siteId} item={item} onEdit={() => setEditing({ item })} />}
        </div>
      )
    },
  }
  return (
    <Page
      title={capitalized(of.plural)}
      actions={
        <>
          {props.actions}
          {writes && (
            <Button kind="primary" icon="plus" onClick={() => setEditing({})}>
              New {of.noun}
            </Button>
          )}
        </>
      }
    >
      {(isFiltered || (list.rows?.length ?? 0) > 0) && (
        <FilterRow label={props.caption}>
          {props.filters.map((filter) => (
            <FilterField
              key={filter.name}
              {...filter}
              value={filters[filter.name] ?? ""}
              onValue={(value) => setFilters({ [filter.name]: value })}
            />
          ))}
        </FilterRow>
      )}
      {children}
      <PagedTable
        of={list}
        caption={props.caption}
        columns={[...props.columns(siteId, setFilters), actionsColumn]}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? `No ${of.plural} match these filters.${of.isArchived ? ` To see archived ${of.plural}, set the state to Archived.` : ""}`
            : props.empty
        }
        step={
          isFiltered ? (
            <Button onClick={() => setFilters(Object.fromEntries(names.filter((name) => name !== "sort").map((name) => [name, ""])))}>
              Clear filters
            </Button>
          ) : (
            writes && (
              <Button icon="plus" onClick={() => setEditing({})}>
                Create your first {of.noun}
              </Button>
            )
          )
        }
      />
      {editing && (
        <Suspense fallback={<div class="progress-line" />}>
          <Editor
            siteId={siteId}
            {...editing}
            onSaved={({ id }) => !editing.item && navigate(`/sites/${siteId}/${of.path}/${id}`)}
            onClose={() => setEditing(undefined)}
          />
        </Suspense>
      )}
    </Page>
  )
}

const FilterField = ({ label, options, value, onValue }: ListFilter & { value: string; onValue(value: string): void }) =>
  options ? (
    <SelectField label={label} value={value} onValue={onValue} options={options.map(([id, text]) => ({ value: id, label: text }))} />
  ) : (
    <SearchField label={label} value={value} onValue={onValue} />
  )

interface ItemNameProps<Item extends AreaItem> {
  of: AreaItems<Item>
  siteId: number
  item: Item
  badges: readonly string[]
  /** Content after the name. */
  beside?: ComponentChildren
  /** Second line. A text is shown without control characters. */
  note: ComponentChildren
  /** Content before the name, such as a checkbox. */
  children?: ComponentChildren
}

/** First cell of a row: the name of an item with a link to its page. */
export const ItemName = <Item extends AreaItem>({ of, siteId, item, badges, beside, note, children }: ItemNameProps<Item>) => (
  <div class="link-name">
    {children}
    <div>
      <Link href={`/sites/${siteId}/${of.path}/${item.id}`}>{visible(of.nameOf(item))}</Link>
      <Badges of={badges} /> {beside}
      {note !== "" && <p class="small quiet">{typeof note === "string" ? visible(note) : note}</p>}
    </div>
  </div>
)

/** Returns a column of numbers, abbreviated and with the exact number as a tooltip. */
export const countColumn = <Item,>(id: string, label: string, countOf: (item: Item) => number): Column<Item> => ({
  id,
  label,
  number: true,
  cell: (item) => <span title={exact(countOf(item))}>{short(countOf(item))}</span>,
})
