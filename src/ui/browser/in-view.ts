import { useEffect, useRef, useState } from "preact/hooks"

/** Returns a ref and whether its element has ever been visible, so that costly data is fetched only then. */
export function useInView<Shown extends Element>() {
  const place = useRef<Shown>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true))
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return { place, seen }
}
