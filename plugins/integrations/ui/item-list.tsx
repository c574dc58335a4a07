/** What the lists of the area share: webhooks, alerts, payment hooks and email reports. */
import type { ComponentChildren, JSX } from "preact"
import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Button, type Column, errorText, PagedTable, toast, type useRows } from "#plugin/ui"
import type { Tone } from "./answers.ts"
import { StateText } from "./frame.tsx"

interface ItemListProps<Row> {
  of: ReturnType<typeof useRows<Row>>
  caption: string
  columns: readonly Column<Row>[]
  /** Says what will be in the list. */
  empty: string
  /** Labels of the button that creates an item: on the page, and in the empty list. Undefined if the user can't create one. */
  create: readonly [label: string, first: string] | undefined
  /** Returns the dialog that creates an item. It can be loaded on demand. */
  editor(onClose: () => void): ComponentChildren
  /** Draws the page around the button and the list. */
  children(actions: ComponentChildren, list: ComponentChildren): JSX.Element
}

/** A list of items with the button that creates one, which is in the empty state while there is none. */
export function ItemList<Row extends { id: number }>({ of, caption, columns, empty, create, editor, children }: ItemListProps<Row>) {
  const [isCreating, setCreating] = useState(false)
  const button = (label: string | undefined) =>
    label !== undefined && (
      <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
        {label}
      </Button>
    )
  return children(
    of.rows?.length !== 0 && button(create?.[0]),
    <>
      <PagedTable of={of} caption={caption} stacks columns={columns} keyOf={({ id }) => id} empty={empty} step={button(create?.[1])} />
      {isCreating && <LazyDialog>{editor(() => setCreating(false))}</LazyDialog>}
    </>,
  )
}

/** A dialog whose code is loaded when it opens. */
export const LazyDialog = ({ children }: { children: ComponentChildren }) => (
  <Suspense fallback={<div class="progress-line" />}>{children}</Suspense>
)

/** The column with the state of an item in words. */
export const stateColumn = <Row,>(stateOf: (row: Row) => readonly [tone: Tone, text: string]): Column<Row> => ({
  id: "state",
  label: "State",
  cell: (row) => {
    const [tone, text] = stateOf(row)
    return <StateText tone={tone}>{text}</StateText>
  },
})

/** The column with the menu of an item. */
export const actionsColumn = <Row,>(menu: (row: Row) => ComponentChildren): Column<Row> => ({
  id: "actions",
  label: "Actions",
  cell: (row) => <div class="goal-acts">{menu(row)}</div>,
})

/** Returns a function that runs an action, refetches the list and says what was done, or why it failed. */
export const useAct = (refresh: () => Promise<unknown>) => async (run: () => Promise<unknown>, done?: string) => {
  try {
    await run()
    await refresh()
    if (done !== undefined) toast(done)
  } catch (error) {
    toast(errorText(error as Error)) // only errors are thrown
  }
}
