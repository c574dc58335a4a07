import type { Journeys } from "../../../domain/insight.ts"
import { toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { counted, percent } from "../../text/format.ts"
import { columnName, nodeName } from "./flow.tsx"
import { itemOfNode, itemText, type JourneyNode, type JourneyQuestion, pinned } from "./journey-question.ts"

interface NodeDialogProps {
  node: JourneyNode
  column: number
  mode: Journeys["mode"]
  question: JourneyQuestion
  onQuestion(question: JourneyQuestion): void
  onClose(): void
}

/** Offers the actions for a node of the journey. */
export function NodeDialog({ node, column, mode, question, onQuestion, onClose }: NodeDialogProps) {
  const { base, address, go } = useSiteAddress()
  const item = itemOfNode(node)
  const change = (next: JourneyQuestion) => {
    onClose()
    onQuestion(next)
  }
  const isPinned = question.pins.some((pin) => pin.column === column && itemText(pin) === node.page)
  return (
    <Dialog title={nodeName(node)} onClose={onClose} small>
      <div class="stack">
        <p>
          {`${counted(node.visits, "visit")}, ${percent(node.conversion_rate)} of visits ${mode === "start" ? "from the start" : "to the end"}. ${columnName(column, mode)}.`}
        </p>
        {node.kind === "other" && <p class="quiet">All pages with fewer visits than those listed.</p>}
        {item && (
          <div class="stack">
            {column > 0 && (
              <Button icon="pin" onClick={() => change(pinned(question, { column, ...item }))}>
                {isPinned ? "Remove pin" : "Show only visits through here"}
              </Button>
            )}
            <Button onClick={() => change({ ...question, mode: "start", anchor: item, pins: [] })}>Show paths starting here</Button>
            <Button onClick={() => change({ ...question, mode: "end", anchor: item, pins: [] })}>Show paths ending here</Button>
            <Button
              icon="filter"
              onClick={() => {
                const dimension = item.event === undefined ? "page" : "event"
                const operator = item.page?.endsWith("/*") ? "matches_wildcard" : "is"
                const others = address.filters.filter((filter) => filter.dimension !== dimension)
                go({ filters: toggledFilter(others, { dimension, operator }, itemText(item)), cards: {} }, { path: base })
              }}
            >
              Filter overview by this
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}
