import { Icon, MenuItem, Popover, visible } from "#plugin/ui"
import type { PixelAnswer } from "./answers.ts"
import { usePixelActions } from "./pixel-actions.ts"

interface PixelMenuProps {
  siteId: number
  pixel: PixelAnswer
  onEdit(): void
  onGone?(): void
}

export function PixelMenu({ siteId, pixel, onEdit, onGone }: PixelMenuProps) {
  const { archive, forget } = usePixelActions(siteId)
  const items = [
    { label: "Edit", act: onEdit },
    { label: pixel.archived ? "Unarchive" : "Archive", act: () => archive(pixel, !pixel.archived) },
    { label: "Delete", act: async () => (await forget(pixel)) && onGone?.() },
  ]
  return (
    <Popover iconOnly kind="quiet" label={`Actions for ${visible(pixel.name)}`} button={<Icon name="more" />}>
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
