import { useState } from "preact/hooks"
import { useSiteAddress } from "../../browser/address.ts"
import { IconButton } from "../../parts/button.tsx"
import { visible } from "../../text/safe-text.tsx"
import { unknownCards } from "../data/card-tabs.ts"

/** Notice about parts of the URL that were not recognized. With `ownCards` the page has cards of its own, so unknown card names are not reported. */
export function IgnoredAddressParts({ ownCards = false }: { ownCards?: boolean }) {
  const { address, leftOut } = useSiteAddress()
  const [seen, setSeen] = useState<string>()
  const text = [...leftOut, ...(ownCards ? [] : unknownCards(address.cards))].map(visible).join(", ")
  if (text === "" || seen === text) return null
  return (
    <div class="notice" data-kind="warn" role="status">
      <span>Some parts of this link were not recognized and were ignored: {text}</span>
      <IconButton icon="close" label="Dismiss" onClick={() => setSeen(text)} />
    </div>
  )
}
