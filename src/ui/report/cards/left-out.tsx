import { useState } from "preact/hooks"
import { useSiteAddress } from "../../address.ts"
import { IconButton } from "../../parts/button.tsx"
import { visible } from "../../safe-text.ts"
import { unknownCards } from "./card-tabs.ts"

/** Parts of the address that were not understood: the rest holds. `ownCards`: what is open is the page's own, and no card of the dashboard. */
export function LeftOut({ ownCards = false }: { ownCards?: boolean }) {
  const { address, leftOut } = useSiteAddress()
  const [seen, setSeen] = useState<string>()
  const text = [...leftOut, ...(ownCards ? [] : unknownCards(address.cards))].map(visible).join(", ")
  if (text === "" || seen === text) return null
  return (
    <div class="notice" data-kind="warn" role="status">
      <span>Left out: {text}</span>
      <IconButton icon="close" label="Dismiss" onClick={() => setSeen(text)} />
    </div>
  )
}
