"""Packs a folder as a .vsix. The same files give the same bytes. Usage: pack.py FOLDER FILE."""

import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

TYPES = {
    ".json": "application/json",
    ".js": "application/javascript",
    ".css": "text/css",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".vsixmanifest": "text/xml",
}
BYTES_MAX = 200_000

MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Tags>{tags}</Tags>
    <Categories>{categories}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionDependencies" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionPack" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details"
      Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License"
      Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def manifest(package):
    return MANIFEST.format(
        name=quoteattr(package["name"]),
        version=quoteattr(package["version"]),
        publisher=quoteattr(package["publisher"]),
        engine=quoteattr(package["engines"]["vscode"]),
        title=escape(package["displayName"]),
        description=escape(package["description"]),
        tags=escape(",".join(package["keywords"])),
        categories=escape(",".join(package["categories"])),
    )


def content_types(names):
    endings = sorted({pathlib.PurePath(name).suffix for name in names} | {".vsixmanifest"})
    rows = "".join(f'<Default Extension="{end}" ContentType="{TYPES[end]}"/>' for end in endings)
    space = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{space}">{rows}</Types>\n'


def main(folder, target):
    root = pathlib.Path(folder)
    files = {f"extension/{path.relative_to(root)}": path for path in root.rglob("*") if path.is_file()}
    texts = {name: path.read_bytes() for name, path in sorted(files.items())}
    package = json.loads(texts["extension/package.json"])
    head = {
        "extension.vsixmanifest": manifest(package).encode(),
        "[Content_Types].xml": content_types(texts).encode(),
    }
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in (head | texts).items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, compresslevel=9)
    size = pathlib.Path(target).stat().st_size
    if size > BYTES_MAX:
        sys.exit(f"vscode: {target} has {size} bytes, at most {BYTES_MAX} are allowed.")
    print(f"-- {target}: {size} bytes")


main(*sys.argv[1:])
