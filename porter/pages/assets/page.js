// What all pages share: the data, elements made of text, the theme.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** Return the element with an id. */
function byId(id) {
  return document.getElementById(id);
}

/** Make an element; `children` are elements, or strings, which become text and never markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Spell out what can't be seen: control and direction characters, halves of surrogate pairs. */
function visible(text) {
  return text.replace(/(?!\t)\p{C}/gu, (character) => {
    if (character === "\n") return "\\n";
    return `\\u{${character.codePointAt(0).toString(16)}}`;
  });
}

/** Return the parts of a message, in which code stands between backticks. */
function prose(text) {
  return text.split(/(`[^`]+`)/).filter(Boolean).map((part) =>
    /^`[^`]+`$/.test(part) ? element("code", {}, visible(part.slice(1, -1))) : visible(part),
  );
}

/** Return a number with its noun, in the plural where it is one. */
function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return what a colour such as "--text" is in the theme that holds now. */
function colour(name) {
  const probe = element("span", { style: `color: var(${name})` });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const themeListeners = [];

/** Call a function whenever the theme has changed. */
function onTheme(listener) {
  themeListeners.push(listener);
}

function startTheme() {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    const dark = chosen ?? system.matches;
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    button.textContent = dark ? "Light theme" : "Dark theme";
    for (const listener of themeListeners) listener();
  };
  button.addEventListener("click", () => {
    chosen = !(chosen ?? system.matches);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
