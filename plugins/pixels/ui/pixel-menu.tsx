import { Icon, MenuItem, Popover, visible } from "#plugin/ui"
import type { PixelAnswer } from "./answers.ts"
import { usePixelActs } from "./pixel-acts.ts"

interface PixelMenuProps {
  siteId: number
  pixel: PixelAnswer
  onEdit(): void
  onGone?(): void
}

export function PixelMenu({ siteId, pixel, onEdit, onGone }: PixelMenuProps) {
  const { archive, forget } = usePixelActs(siteId)
  const items = [
    { label: "Change", act: onEdit },
    { label: pixel.archived ? "Bring back" : "Archive", act: () => archive(pixel, !pixel.archived) },
    { label: "Delete", act: async () => (await forget(pixel)) && onGone?.() },
  ]
  return (
    <Popover iconOnly kind="quiet" label={`Menu of ${visible(pixel.name)}`} button={<Icon name="more" />}>
      {(close) =>
        items.map(({ label, act }) => (
          <MenuItem
            key={label}
            {...(label === "Delete" && { kind: "danger" as const })}
            onSelect={() => {
              close()
              void act()
            }}
          >
            {label}
          </MenuItem>
        ))
      }
    </Popover>
  )
}
