import type { ComponentType } from "preact"
import { useMe } from "../api/session.ts"
import { lazyScreen } from "../parts/loading.ts"
import { Forbidden, NotFound } from "../parts/states.tsx"
import { PlainShell } from "./plain-shell.tsx"
import { mayOpen, type OwnedSection } from "./plugin-pages.ts"
import { SectionShell } from "./section-shell.tsx"

/** Loads a plugin's section as one screen: its pages and the frame around them. */
export async function sectionScreen({ plugin, section }: OwnedSection): Promise<{ default: ComponentType }> {
  const { default: pages } = await section.load()
  const screens = pages.map((page) => ({ page, Screen: lazyScreen(page.load) }))
  return {
    default: function Section() {
      const me = useMe()
      if (!me?.features.includes(plugin)) return <NotFound />
      if (mayOpen(me, section)) return <SectionShell section={section} screens={screens} />
      return (
        <PlainShell>
          <Forbidden permission="manage this instance" giver="An instance admin" />
        </PlainShell>
      )
    },
  }
}
